import { Effect, Layer } from "effect"
import { HttpRouter, HttpServerRequest } from "effect/http"
import * as LocalUrls from "../../../services/discovery/LocalUrls.ts"
import { parseHandle } from "../../../services/federation/DomainNames.ts"
import { WebFingers } from "../../../services/federation/WebFingers.ts"
import { Handles } from "../../../services/identity/Handles.ts"
import { ServerConfig } from "../../../services/instance/ServerConfig.ts"
import * as Urls from "../../../services/instance/Urls.ts"
import { RecordNotFound, Unavailable } from "../../../services/runtime/Errors.ts"
import { addressOf } from "../../guard/ClientAddresses.ts"
import { Limits } from "../../guard/Limits.ts"
import { hidden } from "../../html/Forms.ts"
import { type Html, html } from "../../html/Html.ts"
import { problem, redirect } from "../../html/HtmlPage.ts"
import type { View } from "../shell/Visit.ts"
import { WebPages } from "../shell/WebPages.ts"
import { interactRoute } from "./Paths.ts"

/** Maximum time that a visitor waits for the own server, in seconds. */
const lookUpSecondsMax = 8
/** Maximum characters of a handle. */
const handleCharactersMax = 300

const make = Effect.gen(function*() {
  const config = yield* ServerConfig
  const fingers = yield* WebFingers
  const handles = yield* Handles
  const limits = yield* Limits
  const pages = yield* WebPages

  const page = pages.anyone(
    Effect.fnUntraced(function*(visit) {
      const { query, reader: { way, words: { pieces, say } } } = visit
      const found = LocalUrls.parse(config, query.get("uri") ?? "")
      if (found === undefined || !config.federated) return yield* new RecordNotFound()
      const { username } = yield* handles.find(found.name)
      const url = found.kind === "account"
        ? Urls.profile(config, username)
        : Urls.status(config, username, found.id)
      const written = query.get("handle")?.slice(0, handleCharactersMax)
      const form = (refusal: string | undefined, above: Html | "" = ""): View => ({
        title: say("Continue on your own server"),
        leadsAway: true,
        ...(refusal !== undefined && { status: 422 }),
        body: html`${problem(refusal)}${above}<p>${
          say(
            "Enter your handle. Your own server will then show this profile or post, so that you can follow or reply."
          )
        }</p>
<p><a href="${way(url.slice(config.publicUrl.length))}">${url}</a></p>
<form method="get" action="${interactRoute}" class="panel">${hidden("uri", url)}<p><label>${
          say("Your handle")
        } <input type="text" name="handle" required maxlength="${handleCharactersMax}" autocapitalize="none" spellcheck="false" value="${
          written ?? ""
        }"></label></p><button type="submit">${say("Continue")}</button></form>`
      })
      if (written === undefined) return form(undefined)
      const handle = parseHandle(written)
      if (handle === undefined) {
        return form(say("This handle is not complete. A full handle looks like @name@server.example."))
      }
      const request = yield* HttpServerRequest.HttpServerRequest
      yield* limits.spend([{ limit: "remoteInteractions", key: addressOf(request) }])
      const target = yield* fingers.subscription(handle.username, handle.domain, { kind: found.kind, url }).pipe(
        Effect.catch(() => Effect.undefined),
        Effect.timeoutOrElse({ duration: `${lookUpSecondsMax} seconds`, orElse: () => new Unavailable() })
      )
      if (target === undefined) {
        return form(say("Your server did not say where to continue. Search for the address above on it."))
      }
      // A link of another site must not redirect to a server of its choice: only our own form does.
      return request.headers["sec-fetch-site"] === "same-origin"
        ? redirect(target)
        : form(
          undefined,
          html`<p class="done">${
            pieces("Continue on {server}", {
              server: html`<a rel="nofollow noopener" href="${target}"><bdi>${new URL(target).host}</bdi></a>`
            })
          }</p>`
        )
    }),
    Effect.succeed(config.limitedFederation)
  )
  return HttpRouter.add("GET", interactRoute, page)
})

/** `/interact`: leads visitors to the page of their own server for one of our profiles or posts. */
export const layer = Layer.unwrap(make).pipe(Layer.provide(WebFingers.layer))
