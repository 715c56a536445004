import type { Catalog } from "../../../services/languages/Catalogs.ts"
import { type Html, html } from "../../html/Html.ts"

const steps = [["day", 86_400_000], ["hour", 3_600_000], ["minute", 60_000]] as const

/** Formatters by language; bounded by the number of catalogs. */
const formats = new Map<string, Intl.RelativeTimeFormat>()
const formatOf = (tag: string) => {
  const known = formats.get(tag) ?? new Intl.RelativeTimeFormat(tag, { style: "narrow", numeric: "auto" })
  formats.set(tag, known)
  return known
}

/** Returns the time since a moment: "5 min. ago"; a date after a week. Times are in milliseconds since 1970. */
const since = ({ day, tag }: Catalog, at: number, now: number): string => {
  const age = Math.max(0, now - at)
  if (age > 7 * steps[0][1]) return day(new Date(at))
  const [unit, size] = steps.find(([, size]) => age >= size) ?? ["second", 1_000]
  return formatOf(tag).format(-Math.floor(age / size), unit)
}

const momentOf = ({ moment }: Catalog, date: Date) => `${moment(date)} UTC`

/** Renders a time to come, such as the end of a poll, as date and time of day. */
export const endOf = (words: Catalog, timestamp: string): Html =>
  html`<time datetime="${timestamp}">${momentOf(words, new Date(timestamp))}</time>`

/** Renders a past time for people and machines; `now` is in milliseconds since 1970. */
export const timeOf = (words: Catalog, timestamp: string, now: number): Html => {
  const date = new Date(timestamp)
  return html`<time datetime="${timestamp}" title="${momentOf(words, date)}">${
    since(words, date.getTime(), now)
  }</time>`
}
