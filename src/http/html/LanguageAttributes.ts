import { directionOf } from "../../services/languages/Directions.ts"
import { type Html, html } from "./Html.ts"

/** Renders the language of a page, and its direction unless it is that of browsers. */
export const languageAttributes = (tag: string): Html =>
  html`lang="${tag}"${directionOf(tag) === "rtl" ? html` dir="rtl"` : ""}`
