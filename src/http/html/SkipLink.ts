import type { Messages } from "../../services/languages/Messages.ts"
import { type Html, html } from "./Html.ts"

/** First link of each page: leads keyboard users past the navigation, to the element `content`. */
export const skipLink = ({ say }: Pick<Messages, "say">): Html =>
  html`<a class="skip" href="#content">${say("Skip to content")}</a>`
