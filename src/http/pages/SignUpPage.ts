import { Effect, Layer } from "effect"
import { HttpRouter } from "effect/http"
import { sanitise } from "../../services/html/Sanitise.ts"
import { InstancePolicies } from "../../services/instance/InstancePolicies.ts"
import { ServerConfig } from "../../services/instance/ServerConfig.ts"
import { bounded } from "../../services/text/BoundedText.ts"
import { Forms } from "../html/Forms.ts"
import { html, raw } from "../html/Html.ts"
import { linkTo, redirect, respond } from "../html/HtmlPage.ts"
import { homePath, signInPath, signUpPath } from "../html/PagePaths.ts"
import { Visitors } from "../html/Visitors.ts"
import { providerLink } from "./ProviderLink.ts"
import * as SignUpForm from "./SignUpForm.ts"

const target = { path: signUpPath, inviteCode: undefined }

const make = Effect.gen(function*() {
  const { localDomain, provider } = yield* ServerConfig
  const form = yield* SignUpForm.make
  const forms = yield* Forms
  const policies = yield* InstancePolicies
  const visitors = yield* Visitors

  /** Sign-ups are closed, or the network may not sign up. */
  const refused = Effect.gen(function*() {
    const visitor = yield* visitors.reader
    const { server, way, words } = visitor
    const { pieces, say } = words
    const { registrations, registrationsMessage } = yield* policies.current
    return respond({
      words,
      title: say("Sign up on {server}", { server: localDomain }),
      server,
      status: 403,
      body: html`<p>${
        registrations === "closed"
          ? say("This server is not accepting new sign-ups at the moment.")
          : say("Sign-ups from your network are not accepted.")
      }</p>
${
        registrations !== "closed" || registrationsMessage === null
          ? ""
          : html`<div class="content" dir="auto">${raw(sanitise(bounded(registrationsMessage.html)))}</div>`
      }
${provider?.signUp === true ? providerLink(visitor, provider, homePath) : ""}
<p>${say("If you have an invite link, open it to sign up.")} ${
        pieces("Already have an account? <link>Sign in</link>", { link: linkTo(way(signInPath)) })
      }</p>`
    })
  })

  const get = Effect.gen(function*() {
    const { session } = yield* visitors.current
    if (session !== undefined) return redirect(homePath)
    if (provider?.only === true) return redirect(signInPath)
    const { registrations } = yield* policies.current
    return registrations === "closed" ? yield* refused : yield* form.show(target)
  })

  const post = forms.handle((given) => form.submit(given, target, refused), { address: "signUp" })

  return Layer.mergeAll(HttpRouter.add("GET", signUpPath, get), HttpRouter.add("POST", signUpPath, post))
})

/** Sign-up in a browser, for servers with open or reviewed sign-ups (auth.md section 7). */
export const layer = Layer.unwrap(make)
