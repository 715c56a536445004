import { formTarget, outOfBand } from "../../services/oauth/RedirectUris.ts"
import type { Page } from "../pages/Document.ts"
import { hidden, tokenField } from "../pages/Forms.ts"
import { html } from "../pages/Html.ts"
import type { AuthorizationRequest } from "./AuthorizationRequests.ts"
import { group } from "./ScopeTexts.ts"

/** Fields of the request that the form carries on, to be read again when it comes back. */
const carried = [
  "client_id",
  "redirect_uri",
  "response_type",
  "response_mode",
  "scope",
  "state",
  "code_challenge",
  "code_challenge_method"
]

/** Asks a user to allow an app what it wants, in human words, the dangerous ones set apart (S-243). */
export const consentPage = ({ asked, formToken, request, server, username }: {
  readonly asked: URLSearchParams
  readonly formToken: string
  readonly request: AuthorizationRequest
  readonly server: string
  readonly username: string
}): Page => {
  const { app, redirectUri, scopes } = request
  const fields = html`${hidden(tokenField, formToken)}${
    carried.map((name) => asked.has(name) ? hidden(name, asked.get(name) ?? "") : undefined)
  }`
  const groups = group(scopes).map(({ access, dangerous, texts, title }) =>
    html`
<li class="${dangerous ? "dangerous" : ""}">
<div class="row"><h2>${title}</h2><span class="badge">${access}</span></div>
${texts.map((text) => html`<p>${text}</p>`)}
${
      dangerous
        ? html`<p><strong>Ordinary apps do not need this. Allow it only if you know why this one does.</strong></p>`
        : ""
    }
</li>`
  )
  return {
    title: `Allow ${app.name} to use your account?`,
    server,
    formTarget: formTarget(redirectUri),
    body: html`
<p><strong>${app.name}</strong>${
      app.website === undefined ?
        "" :
        html` (<a href="${app.website}" rel="noopener noreferrer">${new URL(app.website).host}</a>)`
    } would like to use your account <strong>@${username}@${server}</strong>, as apps do. You can take that back at any
time.</p>
<p>It will be able to:</p>
<ul class="scopes">${groups}</ul>
<p class="soft">${destination(redirectUri)}</p>
<div class="row">
<form method="post" action="/oauth/authorize">${fields}<button type="submit">Allow</button></form>
<form method="post" action="/oauth/authorize">${fields}${hidden("_method", "delete")}
<button type="submit" class="quiet">Deny</button></form>
</div>
<form method="post" action="/auth/sign_out" class="below">${hidden(tokenField, formToken)}
<p class="row soft">Not @${username}? <button type="submit" class="quiet">Sign out</button></p></form>`
  }
}

const destination = (redirectUri: string): string => {
  if (redirectUri === outOfBand) return "You will be shown a code to copy into the app."
  return /^https?:/.test(redirectUri)
    ? `You will be sent to ${new URL(redirectUri).origin}.`
    : `You will be sent back to the app on this device (${redirectUri}).`
}
