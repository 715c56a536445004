import { IntlMessageFormat } from "intl-messageformat"
import { directionOf } from "./Directions.ts"

/*
 * Texts for people in ICU MessageFormat, by a maintained library with plurals (`Intl.PluralRules`), numbers and the
 * parser. A text's key is its English wording in the source.
 */

/** Values of a message; a function receives the part between `<name>` and `</name>`. */
type Values = Readonly<Record<string, string | number | ((inner: ReadonlyArray<string>) => string)>>

/** Texts, numbers and dates in one language. Times are in UTC: the server knows the time zones of few readers. */
export interface Messages {
  readonly say: (message: string, values?: Readonly<Record<string, string | number>>) => string
  /**
   * Formats a message in pieces, for values that are parts of a page: these are returned unchanged; everything else is
   * plain text.
   */
  readonly pieces: (message: string, values: Values) => ReadonlyArray<string>
  readonly figure: (figure: number) => string
  /** Formats date and time; in UTC without a zone of the IANA database. */
  readonly moment: (date: Date, timeZone?: string) => string
  readonly day: (date: Date) => string
  readonly month: (date: Date) => string
  readonly list: (items: Iterable<string>) => string
}

/** Handles and hashtags, also several, which a text that is written from right to left would show as `name@`. */
const handle = /^[@#][^/]+$/

/** Returns a value in a text from right to left: a handle or hashtag keeps its own direction (UAX #9, isolates). */
const isolated = (value: Values[string]): Values[string] =>
  typeof value === "string" && handle.test(value) ? `\u2068${value}\u2069` : value

/** Returns the messages of a language; missing or malformed translations fall back to English. */
export const messagesOf = (tag: string, translations: Readonly<Record<string, string>>): Messages => {
  // Bounded by the number of texts in the sources.
  const read = new Map<string, IntlMessageFormat>()
  const english = (message: string) => {
    const format = new IntlMessageFormat(message, "en")
    read.set(message, format)
    return format
  }
  const formatOf = (message: string) => {
    const known = read.get(message)
    const translation = translations[message]
    if (known !== undefined || translation === undefined) return known ?? english(message)
    const format = new IntlMessageFormat(translation, tag)
    read.set(message, format)
    return format
  }
  const isolates = directionOf(tag) === "rtl"
  const partsOf = (format: IntlMessageFormat, values: Values) =>
    format.formatToParts<string>(
      isolates
        ? Object.fromEntries(Object.entries(values).map(([name, value]) => [name, isolated(value)]))
        : { ...values }
    ).map(({ value }) => value)

  const pieces: Messages["pieces"] = (message, values) => {
    try {
      return partsOf(formatOf(message), values)
    } catch {
      return partsOf(english(message), values)
    }
  }
  const figures = new Intl.NumberFormat(tag)
  const dates = (options: Intl.DateTimeFormatOptions) => new Intl.DateTimeFormat(tag, { ...options, timeZone: "UTC" })
  const momentStyle = { dateStyle: "medium", timeStyle: "short" } as const
  const moments = dates(momentStyle)
  const days = dates({ dateStyle: "long" })
  const months = dates({ year: "numeric", month: "long" })
  const lists = new Intl.ListFormat(tag)
  return {
    say: (message, values = {}) => pieces(message, values).join(""),
    pieces,
    figure: (figure) => figures.format(figure),
    moment: (date, timeZone) =>
      (timeZone === undefined ? moments : new Intl.DateTimeFormat(tag, { ...momentStyle, timeZone })).format(date),
    day: (date) => days.format(date),
    month: (date) => months.format(date),
    list: (items) => lists.format(items)
  }
}
