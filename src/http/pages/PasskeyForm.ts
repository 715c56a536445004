import { Effect, Layer } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { hash } from "node:crypto"
import type { Messages } from "../../services/languages/Messages.ts"
import { readClientScript } from "../html/ClientScript.ts"
import { hidden, tokenInput } from "../html/Forms.ts"
import { type Html, html } from "../html/Html.ts"
import type { Visitor } from "../html/Visitors.ts"

/** Path of the script that the form needs; pages load it as a module. */
export const passkeyScriptPath = "/assets/web/passkeys.js"

/** Renders the form of a passkey, which stays hidden without the script. */
export const passkeyForm = (
  { formToken, way, words: { say } }: Pick<Visitor, "formToken" | "way"> & { readonly words: Pick<Messages, "say"> },
  { action, button, fields, options }: {
    readonly action: string
    readonly button: string
    readonly fields: Html
    readonly options: unknown
  }
): Html =>
  html`<form method="post" action="${way(action)}" id="passkey" class="below" data-options="${
    JSON.stringify(options)
  }" hidden>
${tokenInput(formToken)}${hidden("credential", "")}${fields}
<p class="problem" role="alert" hidden>${
    say("Your browser or device did not offer a passkey, or you cancelled. Please try again.")
  }</p>
<button type="submit" class="quiet">${button}</button>
</form>`

/** Serves the script. Browsers revalidate it by its hash. */
export const layer = Layer.unwrap(
  Effect.map(readClientScript(new URL("./Passkeys.client.ts", import.meta.url)), (text) =>
    HttpRouter.add(
      "GET",
      passkeyScriptPath,
      HttpServerResponse.text(text, {
        contentType: "text/javascript; charset=utf-8",
        headers: {
          "cache-control": "public, max-age=300",
          etag: `"${hash("sha256", text, "hex").slice(0, 16)}"`,
          "x-content-type-options": "nosniff"
        }
      })
    ))
)
