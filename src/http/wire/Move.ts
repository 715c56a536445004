import { Schema } from "effect"
import { Count, Id, Timestamp, Url } from "./Common.ts"
import { Cursor, pageFields, pageKeys } from "./PageQuery.ts"
import { Flag } from "./Params.ts"

/**
 * A move of the caller's account, or of another account to it (`GET /api/v1/accounts/move`). Counts are null while the
 * followers are being recorded, and for moves that older versions made.
 */
export const Move = Schema.Struct({
  account_id: Id,
  moved_to_id: Schema.NullOr(Id),
  moved_to_uri: Url,
  moved_at: Timestamp,
  came_count: Schema.NullOr(Count),
  stayed_count: Schema.NullOr(Count)
}).annotate({ identifier: "Move" })
export type Move = typeof Move.Type

/**
 * `GET /api/v1/accounts/move/followers`: followers that came, or with `came=false` those that stayed. `account_id` is
 * the account that moved; without it, the caller's.
 */
export const MoveFollowersQuery = Schema.Struct({
  ...pageFields,
  came: Schema.optionalKey(Flag),
  accountId: Schema.optionalKey(Cursor)
}).pipe(Schema.encodeKeys({ ...pageKeys, accountId: "account_id" }))
