import { Effect, Layer } from "effect"
import { HttpRouter } from "effect/http"
import { AccountId } from "../../../services/database/Ids.ts"
import { Accounts } from "../../../services/identity/Accounts.ts"
import { requireEmail } from "../../../services/identity/RegistrationRules.ts"
import { isValid } from "../../../services/identity/Usernames.ts"
import { ServerConfig } from "../../../services/instance/ServerConfig.ts"
import { EmailSubscriptions } from "../../../services/subscriptions/EmailSubscriptions.ts"
import { Forms, tokenInput } from "../../html/Forms.ts"
import { html } from "../../html/Html.ts"
import { problem } from "../../html/HtmlPage.ts"
import { subscribingPath } from "../../html/PagePaths.ts"
import { Visitors } from "../../html/Visitors.ts"
import { nameOf } from "../../pages/Posts.ts"
import { PublicPages } from "../../pages/PublicPages.ts"

const make = Effect.gen(function*() {
  const accounts = yield* Accounts
  const config = yield* ServerConfig
  const forms = yield* Forms
  const pages = yield* PublicPages
  const subscriptions = yield* EmailSubscriptions
  const visitors = yield* Visitors

  /** Returns the local account if it offers its posts by e-mail; undefined for any other. */
  const offerer = Effect.gen(function*() {
    const { name = "" } = yield* HttpRouter.params
    if (!config.emailSubscriptions || !isValid(name)) return undefined
    const id = yield* accounts.lookup(name)
    const account = (yield* accounts.load([id])).find((record) => record.id === id)
    return account?.domain === null && account.emailSubscriptions ? account : undefined
  }).pipe(Effect.catchTags({ RecordNotFound: () => Effect.undefined, Gone: () => Effect.undefined }))

  const ask = Effect.fnUntraced(function*(refusal?: string) {
    const account = yield* offerer
    if (account === undefined) return yield* pages.notFound
    const { formToken, remember, way, words } = yield* visitors.current
    const { say } = words
    return remember(
      yield* pages.respond({
        words,
        title: say("Posts by email"),
        ...(refusal === undefined ? {} : { status: 422 }),
        body: html`
${problem(refusal === undefined ? undefined : words.translate(refusal))}
<p>${
          say("New public posts of {account} are sent to your address after you confirm it.", {
            account: `${nameOf(account)} (@${account.username}@${config.localDomain})`
          })
        }</p>
<form method="post" action="${way(subscribingPath(account.username))}">
${tokenInput(formToken)}
<label>${say("Email address")}
<input type="email" name="email" autocomplete="email" required autofocus></label>
<p class="row"><button type="submit">${say("Send email")}</button></p>
</form>`
      })
    )
  })

  // Shows the same page whether or not the address is subscribed already.
  const sent = Effect.flatMap(visitors.reader, ({ words: { say }, words }) =>
    pages.respond({
      words,
      title: say("Check your email"),
      body: html`<p class="done" role="status">${
        say("We sent you a confirmation link, unless you are already subscribed.")
      }</p>`
    }))

  const subscribe = (form: URLSearchParams) =>
    Effect.gen(function*() {
      const account = yield* offerer
      if (account === undefined) return yield* pages.notFound
      const { words } = yield* visitors.reader
      const email = yield* requireEmail(form.get("email") ?? "")
      yield* subscriptions.subscribe(AccountId.make(account.id), email, words.tag)
      return yield* sent
    }).pipe(Effect.catchTags({ RecordNotFound: () => pages.notFound, Unprocessable: ({ text }) => ask(text) }))

  const closed = config.limitedFederation
  return Layer.merge(
    HttpRouter.add("GET", "/email_subscriptions/new/:name", pages.guarded(closed, ask())),
    HttpRouter.add(
      "POST",
      "/email_subscriptions/new/:name",
      pages.guarded(closed, forms.handle(subscribe, { address: "mailAddress", email: "mailEmail" }))
    )
  )
})

/** Subscription to a local account's public posts by e-mail, if the account offers it. */
export const layer = Layer.unwrap(make)
