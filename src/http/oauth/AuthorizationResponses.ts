import { Context, Effect, Layer, Redacted } from "effect"
import type { HttpServerResponse } from "effect/http"
import { ServerConfig } from "../../services/instance/ServerConfig.ts"
import type { Catalog } from "../../services/languages/Catalogs.ts"
import { formTarget, outOfBand, withParameters } from "../../services/oauth/RedirectUris.ts"
import { hidden } from "../html/Forms.ts"
import { html } from "../html/Html.ts"
import { problem, redirect, respond } from "../html/HtmlPage.ts"
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

/** Responses to an app, through the user's browser; `words` is the user's catalog. */
export class AuthorizationResponses extends Context.Service<AuthorizationResponses, {
  readonly code: (words: Catalog, to: Return, code: Redacted.Redacted) => Response
  readonly denied: (words: Catalog, to: Return) => Response
  /** Tells the app if its redirect URI is valid, otherwise the user. */
  readonly refused: (words: Catalog, refusal: RefusedRequest) => Response
}>()("murmuration/http/oauth/AuthorizationResponses") {
  static readonly layer = Layer.effect(
    AuthorizationResponses,
    Effect.map(ServerConfig, ({ localDomain: server }) => {
      const post = (words: Catalog, to: Return, parameters: Parameters) =>
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

      const send = (words: Catalog, to: Return, parameters: Parameters): Response => {
        const all: Parameters = [...parameters, ["state", to.state]]
        return to.responseMode === "form_post"
          ? post(words, to, all)
          : redirect(withParameters(to.redirectUri, all, to.responseMode))
      }

      const tell = (words: Catalog, code: string, text: string) =>
        respond({
          words,
          title: words.say("This app cannot be authorized"),
          server,
          status: code === "invalid_client" ? 401 : 400,
          body: html`${problem(words.translate(text))}<p class="soft">${code}</p>`
        })

      const fail = (words: Catalog, to: Return, error: string, text: string) =>
        to.redirectUri === outOfBand
          ? tell(words, error, text)
          : send(words, to, [["error", error], ["error_description", text]])

      return AuthorizationResponses.of({
        code: (words, to, code) =>
          to.redirectUri === outOfBand
            ? redirect(withParameters(nativePath, [["code", Redacted.value(code)]]))
            : send(words, to, [["code", Redacted.value(code)]]),
        denied: (words, to) => fail(words, to, "access_denied", textOf("access_denied")),
        refused: (words, { code, text, to }) => to === undefined ? tell(words, code, text) : fail(words, to, code, text)
      })
    })
  )
}
