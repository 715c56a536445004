import { Effect, Layer } from "effect"
import { HttpRouter, HttpServerRequest } from "effect/http"
import { ServerConfig } from "../../../services/instance/ServerConfig.ts"
import { EmailSubscriptions } from "../../../services/subscriptions/EmailSubscriptions.ts"
import { confirmationPath, unsubscribePath } from "../../../services/subscriptions/SubscriptionLinks.ts"
import { isSubmission } from "../../html/FormResponses.ts"
import { hidden, parameters } from "../../html/Forms.ts"
import { type Html, html } from "../../html/Html.ts"
import { problem, respond, seeOther } from "../../html/HtmlPage.ts"
import { type PageReader, Visitors } from "../../html/Visitors.ts"

const make = Effect.gen(function*() {
  const { localDomain } = yield* ServerConfig
  const subscriptions = yield* EmailSubscriptions
  const visitors = yield* Visitors

  const page = (title: (words: PageReader["words"]) => string, body: (reader: PageReader) => Html, status = 200) =>
    Effect.map(
      visitors.reader,
      (reader) =>
        respond({ words: reader.words, title: title(reader.words), server: reader.server, status, body: body(reader) })
    )
  const tooOld = page(
    ({ say }) => say("This link is no longer valid"),
    ({ words: { say } }) => html`<p>${say("The link is older than seven days, or was not issued by this server.")}</p>`,
    404
  )
  const accountOf = (username: string) => `@${username}@${localDomain}`

  const confirm = Effect.gen(function*() {
    const username = yield* subscriptions.confirm((yield* parameters).get("confirmation_token") ?? "")
    return yield* page(
      ({ say }) => say("You are subscribed"),
      ({ words: { say } }) =>
        html`<p class="done" role="status">${
          say(
            "New public posts of {account} will be sent to your address. Every email has an unsubscribe link.",
            {
              account: accountOf(username)
            }
          )
        }</p>`
    )
  }).pipe(Effect.catchTags({
    RecordNotFound: () => tooOld,
    Unprocessable: ({ text }) =>
      page(({ say }) => say("Posts by email"), ({ words }) => problem(words.translate(text)), 422)
  }))

  const ended = page(
    ({ say }) => say("You are unsubscribed"),
    ({ words: { say } }) => html`<p class="done" role="status">${say("You will not receive any more emails.")}</p>`
  )

  /** Opening the link ends nothing, because mail programs open links to check them. */
  const ask = Effect.gen(function*() {
    const token = (yield* parameters).get("token") ?? ""
    const username = yield* subscriptions.find(token)
    if (username === undefined) return yield* ended
    return yield* page(
      ({ say }) => say("Unsubscribe?"),
      ({ way, words: { say } }) =>
        html`<p>${say("You receive the posts of {account} by email.", { account: accountOf(username) })}</p>
<form method="post" action="${way(unsubscribePath)}">
${hidden("token", token)}
<p class="row"><button type="submit">${say("Unsubscribe")}</button></p>
</form>`
    )
  }).pipe(Effect.catchTag("RecordNotFound", () => tooOld))

  // Mail programs send this themselves (RFC 8058): the link alone is the authorization, without a cookie.
  const end = Effect.gen(function*() {
    const token = (yield* parameters).get("token") ?? ""
    yield* subscriptions.end(token)
    if (!isSubmission(yield* HttpServerRequest.HttpServerRequest)) return yield* ended
    const { way } = yield* visitors.reader
    return seeOther(way(`${unsubscribePath}?${new URLSearchParams({ token })}`))
  }).pipe(Effect.catchTag("RecordNotFound", () => tooOld))

  return Layer.mergeAll(
    HttpRouter.add("GET", confirmationPath, confirm),
    HttpRouter.add("GET", unsubscribePath, ask),
    HttpRouter.add("POST", unsubscribePath, end)
  )
})

/** Confirms and ends subscriptions to posts by e-mail. */
export const layer = Layer.unwrap(make)
