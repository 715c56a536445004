import { Effect, Layer } from "effect"
import { HttpRouter, HttpServerRequest } from "effect/http"
import { isUrl, parse } from "../../services/discovery/LocalUrls.ts"
import * as LocalIds from "../../services/federation/LocalIds.ts"
import { intentRel, subscribeRel } from "../../services/federation/WebFingers.ts"
import { type Handle, Handles } from "../../services/identity/Handles.ts"
import { missingAvatarPath } from "../../services/identity/PictureAddresses.ts"
import type { LocalName } from "../../services/instance/LocalNames.ts"
import { ServerConfig } from "../../services/instance/ServerConfig.ts"
import * as Urls from "../../services/instance/Urls.ts"
import { servedTypes } from "../../services/media/FileTypes.ts"
import { document, nothing } from "./DiscoveryResponse.ts"

/** Maximum characters of a resource. */
const resourceCharactersMax = 2_048

const make = Effect.gen(function*() {
  const config = yield* ServerConfig
  const handles = yield* Handles
  const ours = new Set([config.localDomain.toLowerCase(), new URL(config.publicUrl).host.toLowerCase()])

  /**
   * Returns the local name that a resource asks for: one of our URLs, or `acct:name@domain` with or without its scheme;
   * otherwise the status of the response.
   */
  const nameIn = (resource: string): LocalName | 400 | 404 => {
    if (isUrl(resource)) {
      const named = parse(config, resource)
      return named?.kind === "account" ? named.name : 404
    }
    const [, name = "", domain = ""] = /^(?:acct:)?@?([^@\s]+)@([^@\s/]+)$/i.exec(resource) ?? []
    if (name === "") return 400
    return ours.has(domain.toLowerCase()) ? name : 404
  }

  /** Pages on which our users follow and reply to others, and write a post (OStatus 1.0 and FEP-3b86). */
  const interaction = `${config.publicUrl}/authorize_interaction?uri=`
  const intents = config.federated
    ? [
      { rel: subscribeRel, template: `${interaction}{uri}` },
      ...(["Follow", "Announce", "Like", "Object"] as const).map((name) => ({
        rel: intentRel(name),
        template: `${interaction}{object}`
      })),
      { rel: intentRel("Create"), template: `${config.publicUrl}/share?title={name}&text={content}` }
    ]
    : []

  const descriptor = ({ actorPath, avatarName, username }: Handle) => {
    const [profile, actor] = [Urls.profile(config, username), Urls.actor(config, actorPath)]
    return JSON.stringify({
      subject: `acct:${username}@${config.localDomain}`,
      aliases: [profile, actor],
      links: [
        { rel: "http://webfinger.net/rel/profile-page", type: "text/html", href: profile },
        { rel: "self", type: "application/activity+json", href: actor },
        ...intents,
        ...(config.limitedFederation
          ? []
          : [{
            rel: "http://webfinger.net/rel/avatar",
            type: servedTypes[avatarName?.split(".").at(-1) ?? ""] ?? "image/png",
            href: avatarName === null ? config.publicUrl + missingAvatarPath : Urls.file(config, avatarName)
          }])
      ]
    })
  }

  /** Descriptor of the instance actor; a request for the domain itself gets it, too. */
  const ownDescriptor = document(
    JSON.stringify({
      subject: `acct:${LocalIds.instanceName(config)}@${config.localDomain}`,
      aliases: [LocalIds.instanceActor(config)],
      links: [
        { rel: "http://webfinger.net/rel/profile-page", type: "text/html", href: `${config.publicUrl}/about` },
        { rel: "self", type: "application/activity+json", href: LocalIds.instanceActor(config) }
      ]
    }),
    "application/jrd+json"
  )
  const isOurOwn = (resource: string) => {
    const [, name = "", domain = ""] = /^(?:acct:)?@?([^@\s]+)@([^@\s/]+)$/i.exec(resource) ?? []
    return resource === LocalIds.instanceActor(config) ||
      (ours.has(domain.toLowerCase()) && domain.toLowerCase().replace(/:\d+$/, "") === name.toLowerCase())
  }

  const respond = Effect.gen(function*() {
    const { url } = yield* HttpServerRequest.HttpServerRequest
    const resource = new URLSearchParams(url.split("?")[1] ?? "").get("resource")?.trim() ?? ""
    if (resource === "" || resource.length > resourceCharactersMax) return nothing(400)
    if (isOurOwn(resource)) return ownDescriptor
    const name = nameIn(resource)
    if (typeof name === "number") return nothing(name)
    return yield* handles.find(name).pipe(
      Effect.map((handle) => document(descriptor(handle), "application/jrd+json")),
      Effect.catchTags({
        RecordNotFound: () => Effect.succeed(nothing(404)),
        Gone: () => Effect.succeed(nothing(410))
      })
    )
  })

  return HttpRouter.add("GET", "/.well-known/webfinger", respond)
})

/** WebFinger (RFC 7033), for local accounts only; the responses use our configured domain. */
export const layer = Layer.unwrap(make)
