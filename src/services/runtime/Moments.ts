import { DateTime, Option } from "effect"

/*
 * Dates from outside, as milliseconds since 1970: from documents and headers of other servers, and from client
 * requests. All of them are parsed here. They are clamped so that every output format has four-digit years (RFC 3339
 * section 1) and Postgres can store them.
 */

/** Start of 1970. */
export const momentMillisMin = 0
/** Last millisecond of the year 9999. */
export const momentMillisMax = 253_402_300_799_999

/** Maximum clock skew of our nodes, in milliseconds; later dates are not trusted. */
export const aheadMillisMax = 5 * 60_000

/** Clamps a date to the years 1970 to 9999. */
const clampMoment = (millis: number): number => Math.min(Math.max(millis, momentMillisMin), momentMillisMax)

/** Years of five or more digits, and years BC. */
const [beyond, before] = [/^\s*\+?\d{5,}-/, /^\s*-\d/]

/** Parses a date and clamps it to 1970 to 9999; UTC by default. Undefined for anything that is not a date. */
export const momentOf = (value: unknown): number | undefined => {
  if (typeof value !== "string") return undefined
  if (beyond.test(value)) return momentMillisMax
  if (before.test(value)) return momentMillisMin
  return Option.getOrUndefined(
    Option.map(DateTime.make(value), (moment) => clampMoment(DateTime.toEpochMillis(moment)))
  )
}

/** Parses whole seconds since 1970, as in signatures (RFC 9421 section 2.3); clamped like `momentOf`. */
export const momentOfSeconds = (text: string | undefined): number | undefined =>
  text === undefined || !/^-?\d{1,15}$/.test(text) ? undefined : clampMoment(Number(text) * 1_000)

/** Calendar day, month or year, from 1970 to 9999. */
export interface CalendarDate {
  readonly year: number
  readonly month?: number
  readonly day?: number
}

/** Parses a birthday such as `1969-07-20`, of any century; undefined for dates that do not exist. */
export const birthdayOf = (text: string): Required<CalendarDate> | undefined => {
  const [, year, month, day] = (/^(\d{4})-(\d{1,2})-(\d{1,2})$/.exec(text) ?? []).map(Number)
  if (
    year === undefined || month === undefined || day === undefined || year < 1 || month < 1 || month > 12 || day < 1
  ) {
    return undefined
  }
  // Date.UTC reads years below 100 as 19xx. The calendar repeats every 400 years.
  return day > new Date(Date.UTC(year + 400, month, 0)).getUTCDate() ? undefined : { year, month, day }
}

/** Parses `2024`, `2024-02` or `2024-02-29`; undefined for dates that do not exist. */
export const calendarDateOf = (text: string): CalendarDate | undefined => {
  const [, written, month, day] = /^(\d{4})(?:-(\d{1,2})(?:-(\d{1,2}))?)?$/.exec(text) ?? []
  const [year, m, d] = [Number(written), Number(month ?? 1), Number(day ?? 1)]
  if (written === undefined || year < 1970 || m < 1 || m > 12 || d < 1) return undefined
  if (d > new Date(Date.UTC(year, m, 0)).getUTCDate()) return undefined
  return { year, ...(month === undefined ? {} : { month: m }), ...(day === undefined ? {} : { day: d }) }
}

/** Returns the first moment of a date in a time zone, and the first moment after it, in milliseconds since 1970. */
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

const localTime = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d)/

/**
 * Returns the moment of a local time (`datetime-local`) in a time zone, in milliseconds since 1970; undefined if it is
 * invalid. A time that a change of the clocks skips is the later one.
 */
export const momentInZone = (text: string, timeZone: string): number | undefined => {
  const [, ...parts] = localTime.exec(text) ?? []
  const [year = Number.NaN, month = 1, day = 1, hour = 0, minute = 0] = parts.map(Number)
  if (!(month >= 1 && month <= 12 && day >= 1 && day <= 31 && hour < 24 && minute < 60)) return undefined
  return Option.getOrUndefined(
    Option.map(
      DateTime.makeZoned({ year, month, day, hour, minute }, { timeZone, adjustForTimeZone: true }),
      DateTime.toEpochMillis
    )
  )
}
