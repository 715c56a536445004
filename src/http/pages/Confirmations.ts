import { Effect, Layer, Option } from "effect"
import { HttpRouter } from "effect/http"
import { MailLinks } from "../../services/identity/MailLinks.ts"
import { StaffLetters } from "../../services/identity/StaffLetters.ts"
import { ServerConfig } from "../../services/instance/ServerConfig.ts"
import { Apps } from "../../services/oauth/Apps.ts"
import { outOfBand } from "../../services/oauth/RedirectUris.ts"
import { redirect, respond } from "./Document.ts"
import { Forms, hidden, parameters, tokenField } from "./Forms.ts"
import { html } from "./Html.ts"
import { signInPath } from "./SignIn.ts"
import { Visitors } from "./Visitors.ts"

const confirmPath = "/auth/confirmation"
const askPath = "/auth/confirmation/new"

const make = Effect.gen(function*() {
  const { localDomain: server } = yield* ServerConfig
  const apps = yield* Apps
  const forms = yield* Forms
  const mailLinks = yield* MailLinks
  const notices = yield* StaffLetters
  const visitors = yield* Visitors

  const confirmed = respond({
    title: "Your address is confirmed",
    server,
    body: html`<p class="done" role="status">Welcome! You can go back to your app, or
<a href="${signInPath}">sign in</a> here.</p>`
  })

  const waiting = respond({
    title: "Your address is confirmed",
    server,
    body: html`<p class="done" role="status">Thank you! A moderator of ${server} will look at your sign-up now.
You get a letter when it is decided; until then your app cannot let you in.</p>`
  })

  const tooOld = respond({
    title: "This link does not work any more",
    server,
    status: 404,
    body:
      html`<p>It is older than two days, or there was a newer letter. <a href="${askPath}">Ask for a new one</a></p>`
  })

  /** Leads on to the first address of the app that made the account, and nowhere that the link itself could name. */
  const confirm = Effect.gen(function*() {
    const link = yield* parameters
    const outcome = yield* Effect.result(mailLinks.confirm(link.get("confirmation_token") ?? ""))
    if (outcome._tag === "Failure") return tooOld
    const { accountId, app: appId, first, waits } = outcome.success
    if (waits && first) yield* notices.waits(accountId)
    // An app could say nothing yet but that it is not let in.
    if (waits) return waiting
    const app = Option.isSome(appId) ? yield* apps.find(appId.value) : Option.none()
    const uri = Option.isSome(app) ? app.value.redirectUris[0] : undefined
    return link.get("redirect_to_app") === "true" && uri !== undefined && uri !== outOfBand ? redirect(uri) : confirmed
  })

  const ask = Effect.map(visitors.current, ({ formToken, remember }) =>
    remember(respond({
      title: "Send the letter again",
      server,
      body: html`
<form method="post" action="${confirmPath}">
${hidden(tokenField, formToken)}
<label>The e-mail address of your sign-up
<input type="email" name="email" autocomplete="username" required autofocus></label>
<p class="row"><button type="submit">Send the letter</button> <a href="${signInPath}">Sign in</a></p>
</form>`
    })))

  // The same page whether there is such an account or not.
  const sent = respond({
    title: "Look into your mail",
    server,
    body: html`<p class="done" role="status">If an account with this address waits for it, a letter is on its way.</p>`
  })
  const send = forms.handle(
    (form) => Effect.as(mailLinks.requestConfirmation(form.get("email") ?? ""), sent),
    { address: "mailAddress", email: "mailEmail" }
  )

  return Layer.mergeAll(
    HttpRouter.add("GET", confirmPath, confirm),
    HttpRouter.add("GET", askPath, ask),
    HttpRouter.add("POST", confirmPath, send)
  )
})

/** Confirming an e-mail address by the link in a mail (2 days), and asking for that mail once more (S-100). */
export const layer = Layer.unwrap(make)
