import { DateTime, Option } from "effect"

/*
 * Dates that come from outside, as milliseconds since 1970: in documents and headers of other servers, and in requests
 * of clients. They enter here only. Every format of ours can write their years with four digits (RFC 3339 section 1),
 * and Postgres can keep them.
 */

/** The first moment of 1970. */
export const momentMillisMin = 0
/** The last moment of the year 9999. */
export const momentMillisMax = 253_402_300_799_999

/** How far ahead a clock of ours may be, or have been, in milliseconds: what is later is not believed. */
export const aheadMillisMax = 5 * 60_000

/** A moment brought between the years 1970 and 9999. */
const clampMoment = (millis: number): number => Math.min(Math.max(millis, momentMillisMin), momentMillisMax)

/** Years of five digits and more, and those before Christ, as they are written with and without a sign. */
const [beyond, before] = [/^\s*\+?\d{5,}-/, /^\s*-\d/]

/** A date in a text, between 1970 and 9999, in UTC where it names no zone; undefined for whatever is no date. */
export const momentOf = (value: unknown): number | undefined => {
  if (typeof value !== "string") return undefined
  if (beyond.test(value)) return momentMillisMax
  if (before.test(value)) return momentMillisMin
  return Option.getOrUndefined(
    Option.map(DateTime.make(value), (moment) => clampMoment(DateTime.toEpochMillis(moment)))
  )
}

/** The same of whole seconds since 1970 in a text, as signatures have them (RFC 9421 section 2.3). */
export const momentOfSeconds = (text: string | undefined): number | undefined =>
  text === undefined || !/^-?\d{1,15}$/.test(text) ? undefined : clampMoment(Number(text) * 1_000)

/** A day, a month or a year of the calendar, from 1970 to 9999. */
export interface CalendarDate {
  readonly year: number
  readonly month?: number
  readonly day?: number
}

/** A birthday such as `1969-07-20`, of any century; undefined for what the calendar does not have. */
export const birthdayOf = (text: string): Required<CalendarDate> | undefined => {
  const [, year, month, day] = (/^(\d{4})-(\d{1,2})-(\d{1,2})$/.exec(text) ?? []).map(Number)
  if (
    year === undefined || month === undefined || day === undefined || year < 1 || month < 1 || month > 12 || day < 1
  ) {
    return undefined
  }
  // Years of one and two digits would be of the last century. The calendar repeats itself every 400 years.
  return day > new Date(Date.UTC(year + 400, month, 0)).getUTCDate() ? undefined : { year, month, day }
}

/** `2024`, `2024-02` or `2024-02-29`; undefined for what the calendar does not have. */
export const calendarDateOf = (text: string): CalendarDate | undefined => {
  const [, written, month, day] = /^(\d{4})(?:-(\d{1,2})(?:-(\d{1,2}))?)?$/.exec(text) ?? []
  const [year, m, d] = [Number(written), Number(month ?? 1), Number(day ?? 1)]
  if (written === undefined || year < 1970 || m < 1 || m > 12 || d < 1) return undefined
  if (d > new Date(Date.UTC(year, m, 0)).getUTCDate()) return undefined
  return { year, ...(month === undefined ? {} : { month: m }), ...(day === undefined ? {} : { day: d }) }
}

/** The first moment of a date where people live, and the first one after it. */
export const boundsOf = ({ day, month, year }: CalendarDate, timeZone: string): readonly [number, number] => {
  const at = (date: Date) => {
    const parts = { year: date.getUTCFullYear(), month: date.getUTCMonth() + 1, day: date.getUTCDate() }
    const zoned = DateTime.makeZoned(parts, { timeZone, adjustForTimeZone: true })
    return clampMoment(Option.match(zoned, { onNone: () => date.getTime(), onSome: DateTime.toEpochMillis }))
  }
  const first = new Date(Date.UTC(year, (month ?? 1) - 1, day ?? 1))
  const next = day !== undefined
    ? Date.UTC(year, first.getUTCMonth(), day + 1)
    : month !== undefined
    ? Date.UTC(year, month, 1)
    : Date.UTC(year + 1, 0, 1)
  return [at(first), at(new Date(next))]
}
