import { Effect } from "effect"
import { type Captcha, Captchas } from "../../services/identity/Captchas.ts"
import { hidden, tokenInput } from "../html/Forms.ts"
import { type Html, html } from "../html/Html.ts"
import { problem, respond } from "../html/HtmlPage.ts"
import { Visitors } from "../html/Visitors.ts"
import { proofScript } from "./ProofScript.ts"

export const captchaPath = "/auth/captcha_confirmation"
/** Button for people who cannot solve the captcha: a moderator reviews the sign-up. */
export const byModerator = "by_moderator"

/** Returns the CSP sources of a captcha service's scripts, styles and frames: its own domain. */
const sourcesOf = (scriptUrl: string) => {
  const { hostname, origin } = new URL(scriptUrl)
  const domain = hostname.split(".").slice(-2).join(".")
  return origin.startsWith("https:") ? `https://${domain} https://*.${domain}` : origin
}

/** Page with a captcha, shown before the e-mail address of a sign-up is confirmed. */
export const make = Effect.gen(function*() {
  const captchas = yield* Captchas
  const visitors = yield* Visitors

  const fields = (captcha: Captcha, working: string): Html =>
    captcha.kind === "hcaptcha"
      ? html`<div class="h-captcha" data-sitekey="${captcha.siteKey}"></div>`
      : html`${hidden("challenge", captcha.challenge)}${hidden("number", "")}
<p id="working" role="status" hidden>${working}</p>`

  /** Shows the page; undefined if no captcha is required. */
  const show = Effect.fnUntraced(function*(link: URLSearchParams, failed: boolean) {
    const secret = link.get("confirmation_token") ?? ""
    const captcha = yield* captchas.ask(secret)
    if (captcha === undefined) return undefined
    const { formToken, remember, server, way, words: { say }, words } = yield* visitors.current
    return remember(respond({
      words,
      title: say("One more step"),
      server,
      status: failed ? 422 : 200,
      ...(captcha.kind === "hcaptcha"
        ? { scripts: sourcesOf(captcha.scriptUrl), outerScript: captcha.scriptUrl }
        : { script: proofScript }),
      body: html`
${failed ? problem(say("That did not work or took too long. Please try again.")) : ""}
<p>${say("This server checks that sign-ups are made by people. After this step your email address is confirmed.")}</p>
<form method="post" action="${way(captchaPath)}" id="captcha">
${tokenInput(formToken)}
${hidden("confirmation_token", secret)}
${hidden("redirect_to_app", link.get("redirect_to_app") ?? "")}
${fields(captcha, say("Your browser is working on it …"))}
<p class="row"><button type="submit" id="confirm">${say("Confirm address")}</button></p>
<noscript><p>${say("This step needs JavaScript, which your browser does not run here.")}</p></noscript>
<p class="soft">${say("If that is not possible, a moderator can review your sign-up instead. This takes longer.")}</p>
<p class="row"><button type="submit" name="${byModerator}" value="1" class="quiet">${
        say("Ask for a manual review")
      }</button></p>
</form>`
    }))
  })

  return {
    show,
    verify: (form: URLSearchParams) =>
      captchas.verify(form.get("confirmation_token") ?? "", {
        challenge: form.get("challenge") ?? "",
        number: form.get("number") ?? "",
        response: form.get("h-captcha-response") ?? ""
      })
  }
})
