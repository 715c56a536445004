import { DateTime, Option } from "effect"
import { isKnown } from "../../../services/identity/TimeZones.ts"

const local = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d)/

/** Returns the time zone that the form or the member's settings name; UTC by default. */
export const zoneOf = (...names: ReadonlyArray<string | null | undefined>): string =>
  names.map((name) => isKnown(name ?? "")).find((name) => name !== undefined) ?? "UTC"

/**
 * Returns the moment of a local time (`datetime-local`) in a time zone, in milliseconds since 1970; undefined if it is
 * invalid. A time that a change of the clocks skips is the later one.
 */
export const momentAt = (text: string, timeZone: string): number | undefined => {
  const [, ...parts] = local.exec(text) ?? []
  const [year = Number.NaN, month = 1, day = 1, hour = 0, minute = 0] = parts.map(Number)
  if (!(month >= 1 && month <= 12 && day >= 1 && day <= 31 && hour < 24 && minute < 60)) return undefined
  return Option.getOrUndefined(
    Option.map(
      DateTime.makeZoned({ year, month, day, hour, minute }, { timeZone, adjustForTimeZone: true }),
      DateTime.toEpochMillis
    )
  )
}

/** Returns a moment as local time of a zone, as `datetime-local` fields have it. */
export const localTime = (date: Date, timeZone: string): string =>
  new Intl.DateTimeFormat("sv-SE", { timeZone, dateStyle: "short", timeStyle: "short" }).format(date).replace(" ", "T")
