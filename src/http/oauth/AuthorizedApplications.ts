import { Effect, Layer, Option, Schema } from "effect"
import { HttpRouter } from "effect/http"
import { AppIdFromString } from "../../services/Ids.ts"
import { ServerConfig } from "../../services/instance/ServerConfig.ts"
import { Apps, type AuthorizedApp } from "../../services/oauth/Apps.ts"
import { Tokens } from "../../services/oauth/Tokens.ts"
import * as Reply from "../guard/Reply.ts"
import { redirect, respond } from "../pages/Document.ts"
import { Forms, hidden, tokenField } from "../pages/Forms.ts"
import { html } from "../pages/Html.ts"
import { signInPath } from "../pages/SignIn.ts"
import { type Visitor, Visitors } from "../pages/Visitors.ts"
import { group } from "./ScopeTexts.ts"

const listPath = "/oauth/authorized_applications"

const make = Effect.gen(function*() {
  const { localDomain: server } = yield* ServerConfig
  const apps = yield* Apps
  const forms = yield* Forms
  const tokens = yield* Tokens
  const visitors = yield* Visitors

  const toSignIn = redirect(`${signInPath}?${new URLSearchParams([["return_to", listPath]])}`)

  const item = ({ app, authorizedAt, lastUsedAt, scopes }: AuthorizedApp, { formToken }: Visitor) =>
    html`
<li>
<div class="row"><h2>${app.name}</h2>
<form method="post" action="${listPath}/${app.id}">${hidden(tokenField, formToken)}${hidden("_method", "delete")}
<button type="submit" class="danger" aria-label="Withdraw ${app.name}">Withdraw</button></form></div>
<p>Allowed on ${day(authorizedAt)}, ${lastUsedAt === undefined ? "never used" : `last used on ${day(lastUsedAt)}`}</p>
<p>${group(scopes).map(({ access, title }) => `${title} (${access.toLowerCase()})`).join(", ")}</p>
</li>`

  const list = Effect.gen(function*() {
    const visitor = yield* visitors.current
    if (visitor.session === undefined) return toSignIn
    const authorized = yield* apps.authorizedBy(visitor.session.accountId)
    return visitor.remember(respond({
      title: "Apps that may use your account",
      server,
      body: html`
${
        authorized.length === 0
          ? html`<p>You have not allowed any app to use your account.</p>`
          : html`<ul class="apps">${authorized.map((app) => item(app, visitor))}</ul>`
      }
<form method="post" action="/auth/sign_out" class="below">${hidden(tokenField, visitor.formToken)}
<p class="row soft">Signed in as @${visitor.session.username}
<button type="submit" class="quiet">Sign out</button></p></form>`
    }))
  })

  const withdraw = forms.handle(() =>
    Effect.gen(function*() {
      const { session } = yield* visitors.current
      if (session === undefined) return toSignIn
      const { id } = yield* HttpRouter.params
      const appId = Schema.decodeUnknownOption(AppIdFromString)(id)
      if (Option.isSome(appId)) yield* tokens.revoke({ accountId: session.accountId, appId: appId.value })
      return redirect(listPath)
    })
  )

  return Layer.mergeAll(
    HttpRouter.add("GET", listPath, list),
    HttpRouter.add("POST", `${listPath}/:id`, withdraw),
    HttpRouter.add("DELETE", `${listPath}/:id`, withdraw),
    // Upstream's pages to manage clients are switched off for everybody.
    HttpRouter.add("*", "/oauth/applications/*", Reply.plainError(403, "Forbidden"))
  )
})

const day = (date: Date): string => date.toISOString().slice(0, 10)

/** Apps that a user has allowed, and taking that back. */
export const layer = Layer.unwrap(make)
