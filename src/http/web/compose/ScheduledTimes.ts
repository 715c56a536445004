import { isKnown } from "../../../services/identity/TimeZones.ts"

/** Returns the time zone that the form or the member's settings name; UTC by default. */
export const zoneOf = (...names: ReadonlyArray<string | null | undefined>): string =>
  names.map((name) => isKnown(name ?? "")).find((name) => name !== undefined) ?? "UTC"

/** Returns a moment as local time of a zone, as `datetime-local` fields have it. */
export const localTime = (date: Date, timeZone: string): string =>
  new Intl.DateTimeFormat("sv-SE", { timeZone, dateStyle: "short", timeStyle: "short" }).format(date).replace(" ", "T")
