import { Schema } from "effect"

/** Id as a decimal string (operations.md section 0, "IDs"). */
export const Id = Schema.String.check(Schema.isPattern(/^-?[0-9]+$/))

/**
 * An id as a JSON number, in the few places where clients expect one (operations.md section 0, "IDs"). It has more
 * digits than a JavaScript number holds, so it is written from a `bigint`, with all digits.
 */
export const IdNumber = Schema.Number.pipe(Schema.brand("IdNumber"))
export type IdNumber = typeof IdNumber.Type

/** Time in RFC 3339, in UTC with three decimals: `2024-01-01T00:00:00.000Z`. */
export const Timestamp = Schema.String.check(Schema.isPattern(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/))

/** A day, such as `2024-01-01`. */
export const Day = Schema.String.check(Schema.isPattern(/^\d{4}-\d\d-\d\d$/))

/** A count that is sent as a string. */
export const Figure = Schema.String.check(Schema.isPattern(/^[0-9]+$/))

export const Url = Schema.String
export const Html = Schema.String
export const Count = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))

export const timestamp = (date: Date): string => date.toISOString()
export const timestampOrNull = (date: Date | null): string | null => date === null ? null : date.toISOString()
export const day = (date: Date): string => date.toISOString().slice(0, 10)
export const midnight = (date: Date): string => `${day(date)}T00:00:00.000Z`
export const id = (value: bigint): string => value.toString()
export const idOrNull = (value: bigint | null): string | null => value === null ? null : value.toString()
