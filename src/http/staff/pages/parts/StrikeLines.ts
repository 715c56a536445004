import type { Messages } from "../../../../services/languages/Messages.ts"
import type { Strike } from "../../../../services/moderation/Strike.ts"
import { type Html, html } from "../../../html/Html.ts"
import { actionNames } from "./ActionTexts.ts"
import { badge, moment, userText } from "./Texts.ts"

/** Badge for the appeal against a strike. */
const appealOf = ({ say }: Messages, { appealState }: Strike): Html | string => {
  switch (appealState) {
    case null:
      return ""
    case "pending":
      return badge(say("Appeal pending"), "warn")
    case "approved":
      return badge(say("Appeal approved"), "good")
    case "rejected":
      return badge(say("Appeal rejected"))
  }
}

/** List of strikes, in the given order. */
export const strikeLines = (words: Messages, strikes: ReadonlyArray<Strike>): Html =>
  html`<ul class="notes">${
    strikes.map((strike) =>
      html`<li><div class="row"><strong>${actionNames[strike.action](words)}</strong> <span class="soft">${
        moment(words, strike.createdAt)
      }</span> ${appealOf(words, strike)}</div>${strike.text.trim() === "" ? "" : userText(strike.text)}</li>`
    )
  }</ul>`
