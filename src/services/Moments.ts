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

/** The first moment of a year, in UTC. */
export const beginningOf = (year: number): Date =>
  new Date(clampMoment(Date.UTC(Math.min(Math.max(year, 1970), 10_000), 0, 1)))
