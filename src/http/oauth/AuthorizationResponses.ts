import { Context, Layer, Redacted } from "effect"
import type { HttpServerResponse } from "effect/http"
import { formTarget, outOfBand, withParameters } from "../../services/oauth/RedirectUris.ts"
import { hidden } from "../html/Forms.ts"
import { html } from "../html/Html.ts"
import { problem, redirect, respond } from "../html/HtmlPage.ts"
import type { PageReader } from "../html/Visitors.ts"
import type { RefusedRequest, Return } from "./AuthorizationRequests.ts"
import { textOf } from "./Refusals.ts"

type Parameters = ReadonlyArray<readonly [name: string, value: string | undefined]>
type Response = HttpServerResponse.HttpServerResponse

export const nativePath = "/oauth/authorize/native"

/** Submits the form of `response_mode=form_post`; browsers without scripts show its button. */
const submit = {
  text: "document.forms[0].submit()",
  hash: "sha256-ePniVEkSivX/c7XWBGafqh8tSpiRrKiqYeqbG7N1TOE="
}

/** Responses to an app, through the user's browser; which show pages to the reader if the app gets none. */
export class AuthorizationResponses extends Context.Service<AuthorizationResponses, {
  /** Sends a code, and the id of the user's actor if the app needs it. */
  readonly code: (reader: PageReader, to: Return, code: Redacted.Redacted, actor?: string) => Response
  readonly denied: (reader: PageReader, to: Return) => Response
  /** Tells the app if its redirect URI is valid, otherwise the user. */
  readonly refused: (reader: PageReader, refusal: RefusedRequest) => Response
}>()("murmuration/http/oauth/AuthorizationResponses") {
  static readonly layer = Layer.sync(
    AuthorizationResponses,
    () => {
      const post = ({ server, words }: PageReader, to: Return, parameters: Parameters) =>
        respond({
          words,
          title: words.say("Back to your app"),
          server,
          formTarget: formTarget(to.redirectUri),
          script: submit,
          body: html`
<form method="post" action="${to.redirectUri}">
${parameters.map(([name, value]) => value === undefined ? undefined : hidden(name, value))}
<button type="submit">${words.say("Continue")}</button>
</form>`
        })

      const send = (reader: PageReader, to: Return, parameters: Parameters): Response => {
        const all: Parameters = [...parameters, ["state", to.state]]
        return to.responseMode === "form_post"
          ? post(reader, to, all)
          : redirect(withParameters(to.redirectUri, all, to.responseMode))
      }

      const tell = ({ server, words }: PageReader, code: string, text: string) =>
        respond({
          words,
          title: words.say("This app cannot be authorized"),
          server,
          status: code === "invalid_client" ? 401 : 400,
          body: html`${problem(words.translate(text))}<p class="soft">${code}</p>`
        })

      const fail = (reader: PageReader, to: Return, error: string, text: string) =>
        to.redirectUri === outOfBand
          ? tell(reader, error, text)
          : send(reader, to, [["error", error], ["error_description", text]])

      return AuthorizationResponses.of({
        code: (reader, to, code, actor) =>
          to.redirectUri === outOfBand
            ? redirect(withParameters(nativePath, [["code", Redacted.value(code)]]))
            : send(reader, to, [["code", Redacted.value(code)], ["activitypub_actor", actor]]),
        denied: (reader, to) => fail(reader, to, "access_denied", textOf("access_denied")),
        refused: (reader, { code, text, to }) =>
          to === undefined ? tell(reader, code, text) : fail(reader, to, code, text)
      })
    }
  )
}
