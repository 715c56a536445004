import { Effect, Layer } from "effect"
import { HttpRouter } from "effect/http"
import type { AccountId } from "../../services/database/Ids.ts"
import { LocalActors } from "../../services/federation/LocalActors.ts"
import * as LocalIds from "../../services/federation/LocalIds.ts"
import { ServerConfig } from "../../services/instance/ServerConfig.ts"
import { Grants } from "../../services/oauth/Grants.ts"
import { portability } from "../../services/oauth/Scopes.ts"
import { Forms, parameters } from "../html/Forms.ts"
import { html } from "../html/Html.ts"
import { redirect, respond } from "../html/HtmlPage.ts"
import { signInTo } from "../html/PagePaths.ts"
import { type PageReader, Visitors } from "../html/Visitors.ts"
import { type AuthorizationRequest, AuthorizationRequests, type RefusedRequest } from "./AuthorizationRequests.ts"
import { AuthorizationResponses, nativePath } from "./AuthorizationResponses.ts"
import { consentPage } from "./ConsentPage.ts"

const authorizePath = "/oauth/authorize"

const make = Effect.gen(function*() {
  const actors = yield* LocalActors
  const config = yield* ServerConfig
  const responses = yield* AuthorizationResponses
  const forms = yield* Forms
  const grants = yield* Grants
  const requests = yield* AuthorizationRequests
  const visitors = yield* Visitors

  const toSignIn = (asked: URLSearchParams, force: boolean) => {
    const parameters = new URLSearchParams(asked)
    parameters.delete("force_login")
    const address = signInTo(`${authorizePath}?${parameters}`)
    return redirect(force ? `${address}${address.includes("?") ? "&" : "?"}force_login=true` : address)
  }

  const grant = Effect.fnUntraced(function*(reader: PageReader, accountId: AccountId, request: AuthorizationRequest) {
    const { app, codeChallenge, redirectUri, scopes } = request
    const code = yield* grants.create({ appId: app.id, accountId, redirectUri, scopes, codeChallenge })
    // A server that copies the account learns which one it is (LOLA 0.2).
    const actor = scopes.includes(portability)
      ? LocalIds.actor(config, (yield* Effect.orDie(actors.find(accountId))).actorPath)
      : undefined
    return responses.code(reader, request, code, actor)
  })

  const refuse = (refusal: RefusedRequest) =>
    Effect.map(visitors.reader, (reader) => responses.refused(reader, refusal))

  /**
   * Shows the consent page, unless the user has to sign in first, or has allowed the same before. Copies of the account
   * need consent each time.
   */
  const ask = Effect.gen(function*() {
    const asked = yield* parameters
    const request = yield* requests.read(asked)
    const visitor = yield* visitors.current
    const force = isTrue(asked.get("force_login"))
    if (visitor.session === undefined || force) return toSignIn(asked, force)
    const { accountId, username } = visitor.session
    const { app, scopes } = request
    if (!scopes.includes(portability) && (yield* grants.allowed(accountId, app.id, scopes))) {
      return yield* grant(visitor, accountId, request)
    }
    return visitor.remember(respond(consentPage({ asked, domain: config.localDomain, request, username, visitor })))
  }).pipe(Effect.catchTag("RefusedRequest", refuse))

  const decide = (form: URLSearchParams) =>
    Effect.gen(function*() {
      const request = yield* requests.read(form)
      const visitor = yield* visitors.current
      const { session } = visitor
      if (session === undefined) return toSignIn(form, false)
      const allows = form.get("_method") !== "delete"
      return allows ? yield* grant(visitor, session.accountId, request) : responses.denied(visitor, request)
    }).pipe(Effect.catchTag("RefusedRequest", refuse))

  const deny = (form: URLSearchParams) => decide(new URLSearchParams([...form, ["_method", "delete"]]))

  /** Shows the code for an app without a redirect URI of its own. */
  const native = Effect.map(
    Effect.all([parameters, visitors.reader]),
    ([asked, { server, words: { say }, words }]) =>
      respond({
        words,
        title: say("Authorization code"),
        server,
        body: html`<p>${say("Copy this code and paste it into the app:")}</p>
<code class="secret">${asked.get("code") ?? ""}</code>
<p class="soft">${say("It works once, within ten minutes. Do not share it with anyone.")}</p>`
      })
  )

  return Layer.mergeAll(
    HttpRouter.add("GET", authorizePath, ask),
    HttpRouter.add("POST", authorizePath, forms.handle(decide)),
    HttpRouter.add("DELETE", authorizePath, forms.handle(deny)),
    HttpRouter.add("GET", nativePath, native)
  )
})

const isTrue = (flag: string | null) =>
  flag !== null && !["", "0", "f", "F", "false", "FALSE", "off", "OFF"].includes(flag)

/** Pages on which users authorize apps (S-242, S-254; auth.md sections 1 and 2). */
export const layer = Layer.unwrap(make)
