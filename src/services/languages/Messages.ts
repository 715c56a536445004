import { IntlMessageFormat } from "intl-messageformat"

/*
 * Texts for people in the form that translators know (ICU MessageFormat), by a kept library: it brings the plurals
 * (`Intl.PluralRules`), the figures and the parser. A text is written down where it is said, in English, and that is its key.
 */

/** Values for a text; a function gets the part between `<name>` and `</name>`. */
type Values = Readonly<Record<string, string | number | ((inner: ReadonlyArray<string>) => string)>>

/** Texts, figures and dates in one language. Moments are told in UTC, as the server does not know where its readers are. */
export interface Messages {
  readonly say: (message: string, values?: Readonly<Record<string, string | number>>) => string
  /** The same in pieces, for values that are pieces of a page: these come as they were given, and all else is plain text. */
  readonly pieces: (message: string, values: Values) => ReadonlyArray<string>
  readonly figure: (figure: number) => string
  readonly moment: (date: Date) => string
  readonly day: (date: Date) => string
  readonly month: (date: Date) => string
  readonly list: (items: Iterable<string>) => string
}

/** The texts of a language by their English ones; what it lacks, or what a slip made unreadable, is said in English. */
export const messagesOf = (tag: string, translations: Readonly<Record<string, string>>): Messages => {
  // One for each text in the sources, as nothing else is ever said.
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
  const partsOf = (format: IntlMessageFormat, values: Values) =>
    format.formatToParts<string>({ ...values }).map(({ value }) => value)

  const pieces: Messages["pieces"] = (message, values) => {
    try {
      return partsOf(formatOf(message), values)
    } catch {
      return partsOf(english(message), values)
    }
  }
  const figures = new Intl.NumberFormat(tag)
  const dates = (options: Intl.DateTimeFormatOptions) => new Intl.DateTimeFormat(tag, { ...options, timeZone: "UTC" })
  const moments = dates({ dateStyle: "medium", timeStyle: "short" })
  const days = dates({ dateStyle: "long" })
  const months = dates({ year: "numeric", month: "long" })
  const lists = new Intl.ListFormat(tag)
  return {
    say: (message, values = {}) => pieces(message, values).join(""),
    pieces,
    figure: (figure) => figures.format(figure),
    moment: (date) => moments.format(date),
    day: (date) => days.format(date),
    month: (date) => months.format(date),
    list: (items) => lists.format(items)
  }
}
