import { Effect, Layer, Option } from "effect"
import { HttpRouter } from "effect/http"
import { AccountActors } from "../../actors/account/core/AccountActors.ts"
import { Captchas } from "../../services/identity/Captchas.ts"
import { parse } from "../../services/identity/EmailAddresses.ts"
import { MailLinks } from "../../services/identity/MailLinks.ts"
import { ServerConfig } from "../../services/instance/ServerConfig.ts"
import { Apps } from "../../services/oauth/Apps.ts"
import { outOfBand } from "../../services/oauth/RedirectUris.ts"
import { EmailSubscriptions } from "../../services/subscriptions/EmailSubscriptions.ts"
import { Forms, parameters, tokenInput } from "../html/Forms.ts"
import { html } from "../html/Html.ts"
import { linkTo, redirect, respond } from "../html/HtmlPage.ts"
import { signInPath } from "../html/PagePaths.ts"
import { Visitors } from "../html/Visitors.ts"
import * as CaptchaPage from "./CaptchaPage.ts"
import { byModerator, captchaPath } from "./CaptchaPage.ts"
import { expiredLink } from "./ExpiredLink.ts"

const confirmPath = "/auth/confirmation"
const askPath = "/auth/confirmation/new"

const make = Effect.gen(function*() {
  const { localDomain } = yield* ServerConfig
  const actors = yield* AccountActors
  const apps = yield* Apps
  const captcha = yield* CaptchaPage.make
  const forms = yield* Forms
  const mailLinks = yield* MailLinks
  const subscriptions = yield* EmailSubscriptions
  const visitors = yield* Visitors

  const confirmed = Effect.map(visitors.reader, ({ server, way, words }) =>
    respond({
      words,
      title: words.say("Your address is confirmed"),
      server,
      body: html`<p class="done" role="status">${
        words.pieces("Welcome! You can go back to your app, or <link>sign in</link> here.", {
          link: linkTo(way(signInPath))
        })
      }</p>`
    }))

  const waiting = Effect.map(visitors.reader, ({ server, words }) =>
    respond({
      words,
      title: words.say("Your address is confirmed"),
      server,
      body: html`<p class="done" role="status">${
        words.say(
          "Thank you! A moderator of {server} will now review your sign-up. We will email you the decision; until then you cannot sign in.",
          { server: localDomain }
        )
      }</p>`
    }))

  const tooOld = expiredLink(
    visitors,
    ({ say }) => say("It is older than two days, or was replaced by a newer email."),
    askPath
  )

  /**
   * Confirms an address, and redirects to the first redirect URI of the app that created the account, never to a target
   * in the link.
   */
  const confirmBy = Effect.fnUntraced(function*(link: URLSearchParams) {
    const outcome = yield* Effect.result(mailLinks.confirm(link.get("confirmation_token") ?? ""))
    if (outcome._tag === "Failure") return yield* tooOld
    const { accountId, app: appId, first, waits } = outcome.success
    // Subscribers to posts by e-mail follow the authors instead.
    const authors = first && !waits ? yield* subscriptions.endForUser(accountId) : []
    yield* Effect.forEach(
      authors,
      (target) =>
        Effect.ignore(
          actors.tell(accountId, { _tag: "Follow", target, reblogs: null, notify: null, languages: null })
        ),
      { discard: true }
    )
    // The app could only report that the user may not sign in yet.
    if (waits) return yield* waiting
    const app = Option.isSome(appId) ? yield* apps.find(appId.value) : Option.none()
    const uri = Option.isSome(app) ? app.value.redirectUris[0] : undefined
    const leads = link.get("redirect_to_app") === "true" && uri !== undefined && uri !== outOfBand
    return leads ? redirect(uri) : yield* confirmed
  })

  /** Shows a captcha, if one is required, before the first address of an account is confirmed. */
  const confirm = Effect.gen(function*() {
    const link = yield* parameters
    const isFirst = yield* mailLinks.isFirst(link.get("confirmation_token") ?? "")
    return (isFirst ? yield* captcha.show(link, false) : undefined) ?? (yield* confirmBy(link))
  })
  const passed = forms.handle(
    Effect.fnUntraced(function*(form) {
      const secret = form.get("confirmation_token") ?? ""
      if (!(yield* mailLinks.isFirst(secret))) return yield* confirmBy(form)
      if (form.has(byModerator)) yield* mailLinks.askModerator(secret)
      else if (!(yield* captcha.verify(form))) return (yield* captcha.show(form, true)) ?? (yield* confirmBy(form))
      return yield* confirmBy(form)
    }),
    { address: "mailAddress" }
  )

  const ask = Effect.map(
    visitors.current,
    ({ formToken, remember, server, way, words: { say }, words }) =>
      remember(respond({
        words,
        title: say("Resend confirmation email"),
        server,
        body: html`
<form method="post" action="${way(confirmPath)}">
${tokenInput(formToken)}
<label>${say("Email address you signed up with")}
<input type="email" name="email" autocomplete="username" required autofocus></label>
<p class="row"><button type="submit">${say("Send email")}</button>
<a href="${way(signInPath)}">${say("Sign in")}</a></p>
</form>`
      }))
  )

  // Shows the same page whether or not the account exists.
  const sent = Effect.map(visitors.reader, ({ server, words: { say }, words }) =>
    respond({
      words,
      title: say("Check your email"),
      server,
      body: html`<p class="done" role="status">${
        say("If an account with this address is waiting for confirmation, we sent an email to it.")
      }</p>`
    }))
  const send = forms.handle(
    (form) => Effect.andThen(mailLinks.requestConfirmation(parse(form.get("email") ?? "")), sent),
    { address: "mailAddress", email: "mailEmail" }
  )

  return Layer.mergeAll(
    HttpRouter.add("GET", confirmPath, confirm),
    HttpRouter.add("GET", captchaPath, confirm),
    HttpRouter.add("POST", captchaPath, passed),
    HttpRouter.add("GET", askPath, ask),
    HttpRouter.add("POST", confirmPath, send)
  )
})

/** Confirms an e-mail address by the link in an e-mail (valid for 2 days), and sends that e-mail again (S-100). */
export const layer = Layer.unwrap(make).pipe(Layer.provide(Captchas.layer))
