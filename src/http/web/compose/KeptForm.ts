import { hidden } from "../../html/Forms.ts"
import { tokenField } from "../../html/FormTokens.ts"
import { html } from "../../html/Html.ts"
import { signInTo } from "../../html/PagePaths.ts"
import type { View, Visit } from "../shell/Visit.ts"

/** Path that brings a kept form to the composer. */
export const keptPath = "/web/compose/kept"

/** Fields of the composer's form with several values. */
const lists = new Set(["more", "files", "option"])

/** Fields that the page shows as text, or that a new form replaces. */
const shown = new Set([tokenField, "act", "text", "more"])

/**
 * Keeps what was typed into a form whose session ended. The page changes nothing: its form brings the text to the
 * composer after the sign-in.
 */
export const keptForm = (visit: Visit, form: URLSearchParams): View => {
  const { reader: { way, words: { say } }, viewer } = visit
  const text = (name: string, value: string) =>
    html`<label>${say("Text")}<textarea name="${name}" rows="6" dir="auto">${value}</textarea></label>`
  return {
    title: say("Your text is still here"),
    status: 403,
    body: html`<div class="panel compose"><p>${
      viewer === undefined
        ? say("You were signed out. Sign in, come back to this page, and continue writing.")
        : say("You signed in again in the meantime. Continue writing, and post it then.")
    }</p>${
      viewer === undefined
        ? html`<p><a href="${way(signInTo("/home"))}" target="_blank">${
          say("Open the sign-in page in a new tab")
        }</a></p>`
        : ""
    }<form method="post" action="${way(keptPath)}" enctype="multipart/form-data">${
      [...form].filter(([name]) => !shown.has(name)).map(([name, value]) =>
        hidden(lists.has(name) ? `${name}[]` : name, value)
      )
    }${text("text", form.get("text") ?? "")}${
      form.getAll("more").map((value) => text("more[]", value))
    }<p class="row"><button type="submit">${say("Continue writing")}</button></p></form></div>`
  }
}
