import { Effect, Layer, Option, Schema } from "effect"
import { HttpRouter } from "effect/http"
import { AppIdFromString } from "../../services/database/Ids.ts"
import { Apps, type AuthorizedApp } from "../../services/oauth/Apps.ts"
import { Tokens } from "../../services/oauth/Tokens.ts"
import * as Reply from "../guard/Reply.ts"
import { Forms, hidden, tokenInput } from "../html/Forms.ts"
import { html } from "../html/Html.ts"
import { redirect } from "../html/HtmlPage.ts"
import { MemberFrame } from "../html/MemberFrame.ts"
import { authorizedAppsPath as listPath, signInPath } from "../html/PagePaths.ts"
import { type Visitor, Visitors } from "../html/Visitors.ts"
import { group } from "./ScopeTexts.ts"

const make = Effect.gen(function*() {
  const apps = yield* Apps
  const forms = yield* Forms
  const frame = yield* MemberFrame
  const tokens = yield* Tokens
  const visitors = yield* Visitors

  const toSignIn = redirect(`${signInPath}?${new URLSearchParams([["return_to", listPath]])}`)

  const item = (
    { app, authorizedAt, lastUsedAt, scopes }: AuthorizedApp,
    { formToken, way, words: { day, list, say } }: Visitor
  ) =>
    html`
<li>
<div class="row"><h2>${app.name}</h2>
<form method="post" action="${way(`${listPath}/${app.id}`)}">${tokenInput(formToken)}${hidden("_method", "delete")}
<button type="submit" class="danger" aria-label="${say("Revoke access of {app}", { app: app.name })}">${
      say("Revoke")
    }</button></form></div>
<p>${
      lastUsedAt === undefined
        ? say("Authorized on {day}, never used", { day: day(authorizedAt) })
        : say("Authorized on {day}, last used on {lastDay}", { day: day(authorizedAt), lastDay: day(lastUsedAt) })
    }</p>
<p>${
      list(
        group(scopes).map(({ access, title }) =>
          access === undefined ? say(title) : say("{kind} ({access})", { kind: say(title), access: say(access) })
        )
      )
    }</p>
</li>`

  const list = Effect.gen(function*() {
    const visitor = yield* visitors.current
    if (visitor.session === undefined) return toSignIn
    const authorized = yield* apps.authorizedBy(visitor.session.accountId)
    const { words: { say }, words } = visitor
    return yield* frame.respond(visitor, listPath, {
      words,
      title: say("Apps with access to your account"),
      body: html`
${
        authorized.length === 0
          ? html`<p>${say("No apps have access to your account.")}</p>`
          : html`<ul class="apps">${authorized.map((app) => item(app, visitor))}</ul>`
      }`
    })
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
    // Upstream's pages to manage clients are disabled for everyone.
    HttpRouter.add("*", "/oauth/applications/*", Reply.plainError(403, "Forbidden"))
  )
})

/** Lists the apps that a user has authorized, and withdraws them. */
export const layer = Layer.unwrap(make)
