import { Effect, Layer } from "effect"
import { HttpRouter } from "effect/http"
import { Passkeys } from "../../services/identity/Passkeys.ts"
import { SignIns } from "../../services/identity/SignIns.ts"
import { StrikeLinks } from "../../services/moderation/StrikeLinks.ts"
import { Forms, hidden, parameters, tokenInput } from "../html/Forms.ts"
import { html } from "../html/Html.ts"
import { problem, redirect, respond } from "../html/HtmlPage.ts"
import { passkeySignInPath, secondStepPath, signInPath, twoFactorPath } from "../html/PagePaths.ts"
import { Visitors } from "../html/Visitors.ts"
import { AuthorizationRequests } from "../oauth/AuthorizationRequests.ts"
import { passkeyForm, passkeyScriptPath } from "./PasskeyForm.ts"
import { returnTo } from "./Returns.ts"

/** Redirects to the second step of a sign-in. */
export const redirectToSecondStep = (to: string) =>
  redirect(`${secondStepPath}?${new URLSearchParams([["return_to", to]])}`)

/** Redirects a signed-in user: to the setup of a second factor if their role requires one, otherwise to `to`. */
export const redirectSignedIn = ({ lacksFactor }: { readonly lacksFactor: boolean }, to: string) =>
  redirect(lacksFactor ? `${twoFactorPath}?${new URLSearchParams([["return_to", to]])}` : to)

const make = Effect.gen(function*() {
  const forms = yield* Forms
  const links = yield* StrikeLinks
  const passkeys = yield* Passkeys
  const requests = yield* AuthorizationRequests
  const signIns = yield* SignIns
  const visitors = yield* Visitors

  const toSignIn = (to: string) => redirect(`${signInPath}?${new URLSearchParams([["return_to", to]])}`)
  const pendingAccount = Effect.flatMap(
    visitors.pending,
    (secret) => secret === undefined ? Effect.undefined : signIns.waiting(secret)
  )

  const show = Effect.fnUntraced(function*(to: string, refusal?: string) {
    const visitor = yield* visitors.current
    const { formToken, remember, server, way, words } = visitor
    const { say } = words
    const accountId = yield* pendingAccount
    const hasPasskeys = accountId !== undefined && (yield* passkeys.list(accountId)).length > 0
    return remember(respond({
      words,
      title: say("Two-factor sign-in"),
      server,
      ...(refusal !== undefined && { status: 422 }),
      formTarget: yield* requests.formTarget(to),
      ...(hasPasskeys && { modules: [passkeyScriptPath] }),
      body: html`
${problem(refusal === undefined ? undefined : words.translate(refusal))}
<form method="post" action="${way(secondStepPath)}">
${tokenInput(formToken)}${hidden("return_to", to)}
<label>${say("Code")}
<input name="otp_attempt" autocomplete="one-time-code" inputmode="text" spellcheck="false" required autofocus aria-describedby="which">
<span class="hint" id="which">${say("The six-digit code from your app, or a recovery code.")}</span></label>
<p class="row"><button type="submit">${say("Sign in")}</button> <a href="${way(signInPath)}">${
        say("Start over")
      }</a></p>
</form>
${
        hasPasskeys
          ? passkeyForm(visitor, {
            action: passkeySignInPath,
            button: say("Use a passkey"),
            fields: html`${hidden("return_to", to)}${hidden("second_step", "1")}`,
            options: yield* passkeys.ask(accountId)
          })
          : ""
      }`
    }))
  })

  const get = Effect.gen(function*() {
    const to = returnTo((yield* parameters).get("return_to"))
    return (yield* pendingAccount) === undefined ? toSignIn(to) : yield* show(to)
  })

  const over = (text: string) =>
    Effect.map(visitors.reader, ({ server, way, words }) =>
      respond({
        words,
        title: words.say("Two-factor sign-in"),
        server,
        status: 422,
        body: html`${problem(words.translate(text))}<p><a href="${way(signInPath)}">${words.say("Sign in")}</a></p>`
      }))

  const post = forms.handle(
    Effect.fnUntraced(function*(form) {
      const to = returnTo(form.get("return_to"))
      const secret = yield* visitors.pending
      if (secret === undefined) return toSignIn(to)
      return yield* signIns.enterCode(secret, form.get("otp_attempt") ?? "").pipe(
        Effect.flatMap((found) =>
          found._tag === "SignedIn"
            ? visitors.signIn(found.accountId, redirectSignedIn(found, to))
            : Effect.map(links.listPath(found.accountId), redirect)
        ),
        Effect.catchTags({
          CodeRefused: ({ message, over: ended }) => ended ? over(message) : show(to, message),
          SignInRefused: ({ message }) => over(message)
        })
      )
    }),
    { address: "secondFactorAddress", user: { limit: "secondFactorUser", of: pendingAccount } }
  )

  return Layer.mergeAll(HttpRouter.add("GET", secondStepPath, get), HttpRouter.add("POST", secondStepPath, post))
})

/** Second page of a sign-in; the session starts only after the code. */
export const layer = Layer.unwrap(make).pipe(Layer.provide(StrikeLinks.layer))
