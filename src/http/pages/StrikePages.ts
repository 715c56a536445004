import { Clock, Effect, Layer } from "effect"
import { HttpRouter, HttpServerRequest } from "effect/http"
import { AccountId } from "../../services/database/Ids.ts"
import { plainText } from "../../services/html/PlainText.ts"
import { ServerConfig } from "../../services/instance/ServerConfig.ts"
import { appealCharactersMax, appealDaysMax, Appeals } from "../../services/moderation/Appeals.ts"
import type { Strike } from "../../services/moderation/Strike.ts"
import { StrikeLinks, strikesPath } from "../../services/moderation/StrikeLinks.ts"
import { Strikes } from "../../services/moderation/Strikes.ts"
import * as WarningTexts from "../../services/moderation/WarningTexts.ts"
import { RecordNotFound } from "../../services/runtime/Errors.ts"
import { Statuses } from "../../services/statuses/Statuses.ts"
import { bounded } from "../../services/text/BoundedText.ts"
import { Forms, hidden, parameters, tokenInput } from "../html/Forms.ts"
import { type Html, html } from "../html/Html.ts"
import { problem, redirect } from "../html/HtmlPage.ts"
import { MemberFrame } from "../html/MemberFrame.ts"
import { signInTo } from "../html/PagePaths.ts"
import { type PageReader, type Visitor, Visitors } from "../html/Visitors.ts"
import { cursorOf } from "./PageCursors.ts"

/** Maximum strikes in a list, and posts shown per strike. */
const strikesMax = 40
const postsMax = 20
const dayMillis = 86_400_000

const make = Effect.gen(function*() {
  const appeals = yield* Appeals
  const { localDomain } = yield* ServerConfig
  const forms = yield* Forms
  const frame = yield* MemberFrame
  const links = yield* StrikeLinks
  const statuses = yield* Statuses
  const strikes = yield* Strikes
  const visitors = yield* Visitors

  const explained = ({ words: { say } }: PageReader, strike: Strike) =>
    WarningTexts.explanationOf(strike)(say, { name: "", server: localDomain })

  /** Returns the strike in the URL, for a bearer of its token or the account that it is against. */
  const asked = Effect.fnUntraced(function*({ session }: Visitor, token: string | null) {
    const { id: named = "" } = yield* HttpRouter.params
    const id = cursorOf(named)
    const strike = id === undefined ? undefined : (yield* strikes.load([id])).get(id)
    if (strike === undefined) return yield* new RecordNotFound()
    const own = session?.accountId === strike.targetAccountId || links.isValid(token, strike.id) ||
      (yield* links.reader(token)) === strike.targetAccountId
    return own ? strike : yield* new RecordNotFound()
  })

  const nothing = Effect.fnUntraced(function*(visitor: Visitor) {
    const { url } = yield* HttpServerRequest.HttpServerRequest
    const { way, words } = visitor
    // A signed-out visitor may be the account's owner.
    if (visitor.session === undefined && !url.includes("token=")) {
      return redirect(signInTo(url))
    }
    return yield* frame.respond(visitor, strikesPath, {
      words,
      title: words.say("Page not found"),
      status: 404,
      body: html`<p>${words.say("This page does not exist any more, never existed, or is not public.")}
<a href="${way("/")}">${words.say("Back to the front page")}</a></p>`
    })
  })

  const postsOf = Effect.fnUntraced(function*({ words: { say } }: PageReader, strike: Strike) {
    const found = yield* statuses.load(strike.statusIds.slice(0, postsMax))
    const own = found.filter(({ accountId }) => accountId === strike.targetAccountId)
    const list = (title: string, texts: ReadonlyArray<string>) =>
      texts.length === 0
        ? html``
        : html`<h2>${title}</h2><ul>${texts.map((text) => html`<li dir="auto">${text}</li>`)}</ul>`
    return html`${list(say("Affected posts"), own.map(({ html: text }) => plainText(bounded(text))))}${
      list(say("Affected collections"), strike.collectionNames)
    }`
  })

  const show = Effect.fnUntraced(function*(
    visitor: Visitor,
    strike: Strike,
    token: string | null,
    refused?: { readonly text: string; readonly status: number; readonly written: string }
  ) {
    const { words: { say }, words } = visitor
    const now = yield* Clock.currentTimeMillis
    return yield* frame.respond(visitor, strikesPath, {
      words,
      title: say("A decision about your account"),
      ...(refused !== undefined && { status: refused.status }),
      body: html`${problem(refused === undefined ? undefined : words.translate(refused.text))}
<p>${explained(visitor, strike)}</p>
<p class="soft">${words.moment(strike.createdAt)} UTC</p>
${strike.text.trim() === "" ? "" : html`<h2>${say("Message from the moderator:")}</h2><p dir="auto">${strike.text}</p>`}
${yield* postsOf(visitor, strike)}
<div class="below">${appealOf(visitor, strike, token, now, refused?.written ?? "")}</div>`
    })
  })

  const get = Effect.gen(function*() {
    const visitor = yield* visitors.current
    const token = (yield* parameters).get("token")
    return yield* asked(visitor, token).pipe(
      Effect.flatMap((strike) => show(visitor, strike, token)),
      Effect.catchTag("RecordNotFound", () => nothing(visitor))
    )
  })

  const post = forms.handle(
    Effect.fnUntraced(function*(form) {
      const visitor = yield* visitors.current
      const token = form.get("token")
      const written = form.get("text") ?? ""
      return yield* asked(visitor, token).pipe(
        Effect.flatMap((strike) =>
          appeals.file(AccountId.make(strike.targetAccountId), strike.id, written).pipe(
            Effect.as(redirect(visitor.way(pathOf(strike, token)))),
            Effect.catchTag("Unprocessable", ({ text }) =>
              show(visitor, strike, token, { text, status: 422, written: written.slice(0, appealCharactersMax) }))
          )
        ),
        Effect.catchTag("RecordNotFound", () => nothing(visitor))
      )
    }),
    { address: "appealAddress" }
  )

  const list = Effect.gen(function*() {
    const visitor = yield* visitors.current
    const { session, way, words: { moment, say }, words } = visitor
    // A suspended user has no session: the sign-in led here with a token.
    const token = (yield* parameters).get("token")
    const reader = session?.accountId ?? (yield* links.reader(token))
    if (reader === undefined) return redirect(signInTo(strikesPath))
    const ids = yield* appeals.strikes(reader, { limit: strikesMax })
    const found = yield* strikes.load(ids)
    return yield* frame.respond(visitor, strikesPath, {
      words,
      title: say("Decisions about your account"),
      secret: true,
      body: ids.length === 0 ?
        html`<p>${say("No moderator action has been taken against your account.")}</p>` :
        html`<ul class="apps">${
          ids.flatMap((id) => found.get(id) ?? []).map((strike) =>
            html`<li><a href="${way(pathOf(strike, session === undefined ? token : null))}">${
              explained(visitor, strike)
            }</a>
<p>${moment(strike.createdAt)} UTC</p></li>`
          )
        }</ul>`
    })
  })

  return Layer.mergeAll(
    HttpRouter.add("GET", strikesPath, list),
    HttpRouter.add("GET", `${strikesPath}/:id`, get),
    HttpRouter.add("POST", `${strikesPath}/:id`, post)
  )
})

const pathOf = ({ id }: Strike, token: string | null): string =>
  `${strikesPath}/${id}${token === null ? "" : `?${new URLSearchParams({ token })}`}`

/** Renders the outcome of an appeal, or the form to file one. */
const appealOf = (visitor: Visitor, strike: Strike, token: string | null, now: number, written: string): Html => {
  const { formToken, way, words: { day, say } } = visitor
  const own = strike.appealText === null
    ? ""
    : html`<h2>${say("Your appeal")}</h2><p dir="auto">${strike.appealText}</p>`
  const until = new Date(strike.createdAt.getTime() + appealDaysMax * dayMillis)
  switch (strike.appealState) {
    case "pending":
      return html`<p class="done" role="status">${say("Your appeal is pending.")}</p>${own}`
    case "approved":
      return html`<p class="done" role="status">${
        say("Your appeal was approved. This strike no longer counts.")
      }</p>${own}`
    case "rejected":
      return html`<p>${say("Your appeal was rejected. The action stays in place.")}</p>${own}`
    case null:
      return strike.overruledAt !== null || until.getTime() < now
        ? html`<p class="soft">${say("The deadline for an appeal has passed.")}</p>`
        : html`<form method="post" action="${way(`${strikesPath}/${strike.id}`)}">
${tokenInput(formToken)}${token === null ? "" : hidden("token", token)}
<label>${say("Your appeal")}
<span class="hint">${
          say("If you believe this is a mistake, explain why by {day}. Another moderator may review it.", {
            day: day(until)
          })
        }</span>
<textarea name="text" rows="6" maxlength="${appealCharactersMax}" required>
${written}</textarea></label>
<button type="submit">${say("Submit appeal")}</button>
</form>`
  }
}

/**
 * Moderation decisions for the account's owner to read and appeal: signed in, or by the link in the e-mail about them.
 */
export const layer = Layer.unwrap(make).pipe(
  Layer.provide([Appeals.layer, StrikeLinks.layer, Strikes.layer])
)
