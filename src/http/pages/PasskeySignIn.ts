import { Effect, Layer } from "effect"
import { HttpRouter } from "effect/http"
import { SignIns } from "../../services/identity/SignIns.ts"
import { StrikeLinks } from "../../services/moderation/StrikeLinks.ts"
import { Forms } from "../html/Forms.ts"
import { html } from "../html/Html.ts"
import { problem, redirect, respond } from "../html/HtmlPage.ts"
import { passkeySignInPath, secondStepPath, signInPath } from "../html/PagePaths.ts"
import { Visitors } from "../html/Visitors.ts"
import { returnTo } from "./Returns.ts"
import * as SecondStep from "./SecondStep.ts"

const make = Effect.gen(function*() {
  const forms = yield* Forms
  const links = yield* StrikeLinks
  const signIns = yield* SignIns
  const visitors = yield* Visitors

  /** The passkey was refused; a sign-in in progress continues with its code. */
  const refused = (text: string, back: string) =>
    Effect.map(visitors.reader, ({ server, way, words }) =>
      respond({
        words,
        title: words.say("Sign in"),
        server,
        status: 422,
        body: html`${problem(words.translate(text))}<p><a href="${way(back)}">${words.say("Sign in")}</a></p>`
      }))

  const post = forms.handle(
    Effect.fnUntraced(function*(form) {
      const to = returnTo(form.get("return_to"))
      const pending = form.has("second_step") ? yield* visitors.pending : undefined
      if (form.has("second_step") && pending === undefined) return redirect(signInPath)
      const query = new URLSearchParams([["return_to", to]])
      return yield* signIns.signInByPasskey(form.get("credential") ?? "", pending).pipe(
        Effect.flatMap((found) =>
          found._tag === "SignedIn"
            ? visitors.signIn(found.accountId, SecondStep.redirectSignedIn(found, to))
            // Starts no session: the user may only read why they are kept out.
            : Effect.map(links.listPath(found.accountId), redirect)
        ),
        Effect.catch(({ message }) =>
          refused(message, `${pending === undefined ? signInPath : secondStepPath}?${query}`)
        )
      )
    }),
    { address: "signInAddress" }
  )

  return HttpRouter.add("POST", passkeySignInPath, post)
})

/** Sign-in by passkey: alone, or as the second step after the password. */
export const layer = Layer.unwrap(make).pipe(Layer.provide(StrikeLinks.layer))
