import type { Messages } from "../../services/languages/Messages.ts"
import { formTarget, outOfBand } from "../../services/oauth/RedirectUris.ts"
import { hidden, tokenInput } from "../html/Forms.ts"
import { html } from "../html/Html.ts"
import type { Page } from "../html/HtmlPage.ts"
import type { Visitor } from "../html/Visitors.ts"
import type { AuthorizationRequest } from "./AuthorizationRequests.ts"
import { group } from "./ScopeTexts.ts"

/** Request parameters that the form carries along, to be read again when it is sent. */
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

/**
 * Renders the page that asks a user to authorize an app, with its scopes in plain language and the dangerous ones set
 * apart (S-243).
 */
export const consentPage = ({ asked, domain, request, username, visitor }: {
  readonly asked: URLSearchParams
  readonly request: AuthorizationRequest
  readonly domain: string
  readonly username: string
  readonly visitor: Pick<Visitor, "formToken" | "server" | "way" | "words">
}): Page => {
  const { app, redirectUri, scopes } = request
  const { formToken, server, way, words } = visitor
  const { pieces, say } = words
  const fields = html`${tokenInput(formToken)}${
    carried.map((name) => asked.has(name) ? hidden(name, asked.get(name) ?? "") : undefined)
  }`
  const groups = group(scopes).map(({ access, dangerous, texts, title }) =>
    html`
<li class="${dangerous ? "dangerous" : ""}">
<div class="row"><h2>${say(title)}</h2>${
      access === undefined ? "" : html`<span class="badge">${say(access)}</span>`
    }</div>
${texts.map((text) => html`<p>${say(text)}</p>`)}
${
      dangerous
        ? html`<p><strong>${
          say("Most apps do not need this. Allow it only if you know why this app does.")
        }</strong></p>`
        : ""
    }
</li>`
  )
  const website = app.website === undefined
    ? ""
    : html` (<a href="${app.website}" rel="noopener noreferrer">${new URL(app.website).host}</a>)`
  return {
    words,
    title: say("Allow {app} to use your account?", { app: app.name }),
    server,
    formTarget: formTarget(redirectUri),
    body: html`
<p>${
      pieces("{app} requests access to your account {account}. You can revoke the access at any time.", {
        app: html`<strong>${app.name}</strong>${website}`,
        account: html`<strong>@${username}@${domain}</strong>`
      })
    }</p>
<p>${say("It will be able to:")}</p>
<ul class="scopes">${groups}</ul>
<p class="soft">${destination(words, redirectUri)}</p>
<div class="row">
<form method="post" action="${way("/oauth/authorize")}">${fields}<button type="submit">${say("Allow")}</button></form>
<form method="post" action="${way("/oauth/authorize")}">${fields}${hidden("_method", "delete")}
<button type="submit" class="quiet">${say("Deny")}</button></form>
</div>
<form method="post" action="${way("/auth/sign_out")}" class="below">${tokenInput(formToken)}
<p class="row soft">${say("Not {account}?", { account: `@${username}` })}
<button type="submit" class="quiet">${say("Sign out")}</button></p></form>`
  }
}

const destination = ({ say }: Messages, redirectUri: string): string => {
  if (redirectUri === outOfBand) return say("You will be shown a code to copy into the app.")
  return /^https?:/.test(redirectUri)
    ? say("You will be sent to {address}.", { address: new URL(redirectUri).origin })
    : say("You will be sent back to the app on this device ({address}).", { address: redirectUri })
}
