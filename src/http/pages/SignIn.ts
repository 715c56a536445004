import { Effect, Layer, Redacted } from "effect"
import { HttpRouter, HttpServerRequest } from "effect/http"
import * as EmailAddresses from "../../services/identity/EmailAddresses.ts"
import { Passkeys } from "../../services/identity/Passkeys.ts"
import { SignIns } from "../../services/identity/SignIns.ts"
import { acceptsSignUps, InstancePolicies } from "../../services/instance/InstancePolicies.ts"
import { ServerConfig } from "../../services/instance/ServerConfig.ts"
import { StrikeLinks } from "../../services/moderation/StrikeLinks.ts"
import { hadSession } from "../html/EarlierSessions.ts"
import { Forms, hidden, parameters, tokenInput } from "../html/Forms.ts"
import { html } from "../html/Html.ts"
import { linkTo, problem, redirect, respond } from "../html/HtmlPage.ts"
import { passkeySignInPath, signInPath, signUpPath } from "../html/PagePaths.ts"
import { type Visitor, Visitors } from "../html/Visitors.ts"
import { AuthorizationRequests } from "../oauth/AuthorizationRequests.ts"
import { passkeyForm, passkeyScriptPath } from "./PasskeyForm.ts"
import { providerLink } from "./ProviderLink.ts"
import { returnTo } from "./Returns.ts"
import * as SecondStep from "./SecondStep.ts"

interface Shown {
  readonly visitor: Visitor
  readonly to: string
  readonly email: string
  readonly problem?: string
  readonly status?: number
}

const make = Effect.gen(function*() {
  const config = yield* ServerConfig
  const { provider } = config
  const forms = yield* Forms
  const links = yield* StrikeLinks
  const passkeys = yield* Passkeys
  const policies = yield* InstancePolicies
  const requests = yield* AuthorizationRequests
  const signIns = yield* SignIns
  const visitors = yield* Visitors

  const passwordForm = ({ formToken, way, words: { say } }: Visitor, to: string, email: string) =>
    html`<form method="post" action="${way(signInPath)}">
${tokenInput(formToken)}${hidden("return_to", to)}
<label>${say("Email address")}
<input type="email" name="email" value="${email}" autocomplete="username" required autofocus></label>
<label>${say("Password")}
<input type="password" name="password" autocomplete="current-password" required></label>
<p class="row"><button type="submit">${say("Sign in")}</button> <a href="${way("/auth/password/new")}">${
      say("Forgot your password?")
    }</a></p>
</form>`

  const show = Effect.fnUntraced(function*({ email, problem: wrong, status, to, visitor }: Shown) {
    const { server, way, words } = visitor
    const { pieces, say } = words
    const isOpen = acceptsSignUps(config, yield* policies.current)
    const isCopied = hadSession(yield* HttpServerRequest.HttpServerRequest)
    return visitor.remember(respond({
      words,
      title: say("Sign in"),
      server,
      modules: [passkeyScriptPath],
      ...(status !== undefined && { status }),
      formTarget: yield* requests.formTarget(to),
      body: html`
${
        isCopied
          ? html`<p class="done">${
            say("This server now runs other software, so you have to sign in again. Your password has not changed.")
          }</p>`
          : ""
      }
${problem(wrong === undefined ? undefined : words.translate(wrong))}
${provider === undefined ? "" : providerLink(visitor, provider, to)}
${provider?.only === true ? "" : passwordForm(visitor, to, email)}

${
        passkeyForm(visitor, {
          action: passkeySignInPath,
          button: say("Sign in with a passkey"),
          fields: hidden("return_to", to),
          options: yield* passkeys.ask()
        })
      }
${isOpen ? html`<p>${pieces("New here? <link>Sign up</link>", { link: linkTo(way(signUpPath)) })}</p>` : ""}
${
        provider?.only === true ?
          "" :
          html`<p class="soft">${
            pieces("Did not get the confirmation email? <link>Send it again</link>", {
              link: linkTo(way("/auth/confirmation/new"))
            })
          }</p>`
      }`
    }))
  })

  const get = Effect.gen(function*() {
    const asked = yield* parameters
    const to = returnTo(asked.get("return_to"))
    const visitor = yield* visitors.current
    if (visitor.session !== undefined && !asked.has("force_login")) return redirect(to)
    return yield* show({ visitor, to, email: "" })
  })

  const post = forms.handle(
    Effect.fnUntraced(function*(form) {
      const given = form.get("email")?.trim() ?? ""
      // An overlong address is not shown again, as it would make the page as long.
      const [to, email] = [
        returnTo(form.get("return_to")),
        given.length > EmailAddresses.emailCharactersMax ? "" : given
      ]
      return yield* signIns.signIn(EmailAddresses.parse(email), Redacted.make(form.get("password") ?? "")).pipe(
        Effect.flatMap((found) =>
          found._tag === "SignedIn"
            ? visitors.signIn(found.accountId, SecondStep.redirectSignedIn(found, to))
            : found._tag === "DisabledSignIn"
            // Starts no session: the user may only read why they are kept out.
            ? Effect.map(links.listPath(found.accountId), redirect)
            : Effect.succeed(visitors.keepPending(found.pending, SecondStep.redirectToSecondStep(to)))
        ),
        Effect.catch((refused) =>
          Effect.flatMap(
            visitors.current,
            (visitor) =>
              show({ visitor, to, email, problem: refused.message, status: refused._tag === "Unavailable" ? 503 : 422 })
          )
        )
      )
    }),
    { address: "signInAddress", email: "signInEmail" }
  )

  const signOut = forms.handle(() => visitors.signOut(redirect(signInPath)))

  return Layer.mergeAll(
    HttpRouter.add("GET", signInPath, get),
    HttpRouter.add("POST", signInPath, post),
    HttpRouter.add("POST", "/auth/sign_out", signOut),
    HttpRouter.add("DELETE", "/auth/sign_out", signOut)
  )
})

/** Sign-in to the server's own pages, and sign-out. */
export const layer = Layer.unwrap(make).pipe(Layer.provide(StrikeLinks.layer))
