import { Effect, Layer } from "effect"
import { HttpRouter } from "effect/http"
import { ServerConfig } from "../../services/instance/ServerConfig.ts"
import { EmailSubscriptions } from "../../services/subscriptions/EmailSubscriptions.ts"
import { confirmationPath, unsubscribePath } from "../../services/subscriptions/SubscriptionLinks.ts"
import { hidden, parameters } from "../html/Forms.ts"
import { type Html, html } from "../html/Html.ts"
import { respond } from "../html/HtmlPage.ts"
import { type PageReader, Visitors } from "../html/Visitors.ts"

const make = Effect.gen(function*() {
  const { localDomain: server } = yield* ServerConfig
  const subscriptions = yield* EmailSubscriptions
  const visitors = yield* Visitors

  const page = (title: (words: PageReader["words"]) => string, body: (reader: PageReader) => Html, status = 200) =>
    Effect.map(
      visitors.reader,
      (reader) => respond({ words: reader.words, title: title(reader.words), server, status, body: body(reader) })
    )
  const tooOld = page(
    ({ say }) => say("This link does not work any more"),
    ({ words: { say } }) => html`<p>${say("It is older than seven days, or no link of this server.")}</p>`,
    404
  )
  const accountOf = (username: string) => `@${username}@${server}`

  const confirm = Effect.gen(function*() {
    const username = yield* subscriptions.confirm((yield* parameters).get("confirmation_token") ?? "")
    return yield* page(
      ({ say }) => say("You will get the posts by e-mail"),
      ({ words: { say } }) =>
        html`<p class="done" role="status">${
          say(
            "New public posts of {account} are sent to your address from now on. Each e-mail has a link that ends it.",
            {
              account: accountOf(username)
            }
          )
        }</p>`
    )
  }).pipe(Effect.catchTag("RecordNotFound", () => tooOld))

  const ended = page(
    ({ say }) => say("You get no more e-mails"),
    ({ words: { say } }) => html`<p class="done" role="status">${say("Nothing more is sent to your address.")}</p>`
  )

  /** Opening the link ends nothing, because mail programs open links to check them. */
  const ask = Effect.gen(function*() {
    const token = (yield* parameters).get("token") ?? ""
    const username = yield* subscriptions.find(token)
    if (username === undefined) return yield* ended
    return yield* page(
      ({ say }) => say("No more posts by e-mail?"),
      ({ way, words: { say } }) =>
        html`<p>${say("You get the posts of {account} by e-mail.", { account: accountOf(username) })}</p>
<form method="post" action="${way(unsubscribePath)}">
${hidden("token", token)}
<p class="row"><button type="submit">${say("End that")}</button></p>
</form>`
    )
  }).pipe(Effect.catchTag("RecordNotFound", () => tooOld))

  // Mail programs send this themselves (RFC 8058): the link alone is the authorization, without a cookie.
  const end = Effect.gen(function*() {
    yield* subscriptions.end((yield* parameters).get("token") ?? "")
    return yield* ended
  }).pipe(Effect.catchTag("RecordNotFound", () => tooOld))

  return Layer.mergeAll(
    HttpRouter.add("GET", confirmationPath, confirm),
    HttpRouter.add("GET", unsubscribePath, ask),
    HttpRouter.add("POST", unsubscribePath, end)
  )
})

/** Confirms and ends subscriptions to posts by e-mail. */
export const layer = Layer.unwrap(make)
