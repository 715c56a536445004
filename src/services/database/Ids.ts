import { Schema, SchemaTransformation } from "effect"

/**
 * Ids are 64-bit integers: milliseconds since 1970 shifted left by 16 bits, plus a sequence; made by the SQL function
 * `next_id(ms)`. In memory and in SQL they are `bigint`, on the wire and in messages decimal strings.
 */
export const AccountId = Schema.BigInt.pipe(Schema.brand("AccountId"))
export type AccountId = typeof AccountId.Type

export const StatusId = Schema.BigInt.pipe(Schema.brand("StatusId"))
export type StatusId = typeof StatusId.Type

export const AppId = Schema.BigInt.pipe(Schema.brand("AppId"))
export type AppId = typeof AppId.Type

export const TokenId = Schema.BigInt.pipe(Schema.brand("TokenId"))
export type TokenId = typeof TokenId.Type

export const MediaId = Schema.BigInt.pipe(Schema.brand("MediaId"))
export type MediaId = typeof MediaId.Type

/** Ids of hosts and inboxes: 32-bit integers, numbered by first contact. */
export const HostId = Schema.Int
export const InboxId = Schema.Int

/** Maximum of Postgres' `bigint`; no id is larger. */
export const idMax = 9_223_372_036_854_775_807n

/** Parses an id of a path, a form or a query; undefined if it is invalid or out of range. */
export const parseId = (text: string | null | undefined): bigint | undefined => {
  const id = typeof text === "string" && /^[0-9]{1,19}$/.test(text) ? BigInt(text) : undefined
  return id === undefined || id > idMax ? undefined : id
}

/** Decimal string of at most 19 digits, as ids travel; anything else fails to decode. */
export const IdFromString = Schema.String.check(Schema.isPattern(/^[0-9]{1,19}$/)).pipe(
  Schema.decodeTo(Schema.BigInt.check(Schema.isLessThanOrEqualToBigInt(idMax)), SchemaTransformation.bigintFromString)
)

export const AccountIdFromString = IdFromString.pipe(Schema.decodeTo(AccountId))
export const StatusIdFromString = IdFromString.pipe(Schema.decodeTo(StatusId))
export const MediaIdFromString = IdFromString.pipe(Schema.decodeTo(MediaId))
export const AppIdFromString = IdFromString.pipe(Schema.decodeTo(AppId))

/** First millisecond since 1970 that no id can hold; in the year 6429. */
const idMillisMax = Number(idMax >> 16n) + 1

/** Returns the smallest possible id of a time in milliseconds since 1970, `idMax` for a time too late for ids. */
export const idAt = (millis: number): bigint =>
  millis >= idMillisMax ? idMax : BigInt(Math.max(0, Math.floor(millis))) << 16n

/** Returns the time at which an id was made, in milliseconds since 1970. */
export const millisOf = (id: bigint): number => Number(id >> 16n)
