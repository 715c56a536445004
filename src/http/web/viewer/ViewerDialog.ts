import { type Html, html } from "../../html/Html.ts"
import { icon } from "../shell/Icons.ts"
import type { Visit } from "../shell/Visit.ts"

/** Empty dialog in which a script shows pictures; without the script, their links open the files. */
export const viewerDialog = ({ reader: { words: { say } } }: Visit): Html => {
  const button = (name: string, of: "back" | "forth" | "zoom" | "cross", label: string) =>
    html`<button type="button" class="${name}" title="${label}">${
      icon(of)
    }<span class="unseen">${label}</span></button>`
  return html`<dialog id="viewer" aria-label="${
    say("Media")
  }"><figure><img alt=""><figcaption dir="auto"></figcaption></figure><div class="tools">${
    button("previous", "back", say("Previous"))
  }${button("next", "forth", say("Next"))}${button("zoom", "zoom", say("Zoom"))}${
    button("close", "cross", say("Close"))
  }</div></dialog>`
}
