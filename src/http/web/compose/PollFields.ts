import { pollOptionCharactersMax, pollOptionsMax } from "../../../services/instance/ContentLimits.ts"
import { type Html, html } from "../../html/Html.ts"
import type { Visit } from "../shell/Visit.ts"
import type { Composition } from "./Composition.ts"

/** Durations that are offered, in seconds. */
const durations = [300, 1_800, 3_600, 21_600, 43_200, 86_400, 259_200, 604_800]

/** Fewest options that the form shows. */
const optionsShown = 2

const durationText = ({ reader: { words: { say } } }: Visit, seconds: number): string =>
  seconds < 3_600
    ? say("{count, plural, one {# minute} other {# minutes}}", { count: Math.round(seconds / 60) })
    : seconds < 86_400
    ? say("{count, plural, one {# hour} other {# hours}}", { count: Math.round(seconds / 3_600) })
    : say("{count, plural, one {# day} other {# days}}", { count: Math.round(seconds / 86_400) })

const check = (name: string, isOn: boolean, label: string): Html =>
  html`<p class="check"><label><input type="checkbox" name="${name}" value="1"${
    isOn ? html` checked` : ""
  }> ${label}</label></p>`

/** Renders the fields of a poll; it exists if an option has a text. */
export const pollFields = (visit: Visit, { hideTotals, multiple, options, seconds }: Composition): Html => {
  const { say } = visit.reader.words
  const shown = Math.max(optionsShown, Math.min(options.length, pollOptionsMax))
  return html`<details class="part"${options.length > 0 ? html` open` : ""}><summary>${say("Poll")}</summary>${
    Array.from({ length: shown }, (_, at) =>
      html`<label>${say("Option {number}", { number: at + 1 })}<input name="option[]" maxlength="${
        pollOptionCharactersMax * 2
      }" value="${options[at] ?? ""}"></label>`)
  }${
    shown < pollOptionsMax
      ? html`<button type="submit" name="act" value="add_option" class="plain">${say("Add option")}</button>`
      : ""
  }<label>${say("Duration")}<select name="poll_seconds">${
    [...new Set([...durations, seconds])].toSorted((a, b) => a - b).map((one) =>
      html`<option value="${one}"${one === seconds ? html` selected` : ""}>${durationText(visit, one)}</option>`
    )
  }</select></label>${check("poll_multiple", multiple, say("Allow several answers"))}${
    check("poll_hide_totals", hideTotals, say("Hide results until the end"))
  }</details>`
}
