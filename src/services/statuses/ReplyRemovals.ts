import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import type { Fragment } from "effect/sql/Statement"
import * as Counters from "../database/Counters.ts"
import { rowsMax } from "../database/Paging.ts"
import { rowsOf } from "../database/Rows.ts"
import * as RowChanges from "../events/RowChanges.ts"
import { traced } from "../runtime/Traced.ts"
import { isHeldPost } from "./HeldStatuses.ts"
import { separatedMax } from "./Interactions.ts"
import { update } from "./StatusRows.ts"

const Removed = Schema.Struct({
  id: Schema.BigInt,
  accountId: Schema.BigInt,
  local: Schema.Boolean,
  /** URI of the reply if it is remote. */
  uri: Schema.NullOr(Schema.String),
  parentId: Schema.BigInt,
  /** True if it is held for moderators, so that its parent does not count it. */
  held: Schema.Boolean
})
export type RemovedReply = typeof Removed.Type
const removedRows = rowsOf(Removed)

/**
 * Removes replies from threads, in the current transaction of the thread's author. They remain posts of their authors,
 * but no longer replies. Replies to them stay attached to them, with unchanged conversation ids.
 */
export class ReplyRemovals extends Context.Service<ReplyRemovals, {
  /** Removes a reply to a status of `owner`, or to this status only; undefined if `replyId` is no such reply. */
  readonly one: (owner: bigint, replyId: bigint, statusId?: bigint) => Effect.Effect<RemovedReply | undefined, SqlError>
  /** Removes the replies of `account` to statuses of `owner`, `separatedMax` at most, newest first. */
  readonly allOf: (owner: bigint, account: bigint) => Effect.Effect<ReadonlyArray<RemovedReply>, SqlError>
}>()("murmuration/services/statuses/ReplyRemovals") {
  static readonly layer = Layer.effect(
    ReplyRemovals,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const tracked = yield* RowChanges.make

      const remove = Effect.fnUntraced(function*(found: Fragment) {
        const rows = yield* tracked(
          "status",
          (rows: ReadonlyArray<{ readonly id: bigint }>) => rows.map(({ id }) => id)
        )(removedRows(sql`
          WITH chosen AS MATERIALIZED (${found})
          ${
          update(sql, {
            inReplyToId: null,
            inReplyToAccountId: null,
            inReplyToUri: null,
            conversationId: sql`statuses.id`
          })
        } FROM chosen WHERE statuses.id = chosen.id AND statuses.in_reply_to_id = chosen.parent_id
          RETURNING statuses.id, statuses.account_id, statuses.local, statuses.uri, chosen.parent_id,
            ${isHeldPost(sql, "statuses")} AS held`))
        const counted = rows.filter(({ held }) => !held)
        yield* Counters.count(
          { sql, tracked },
          [],
          counted.map(({ parentId }) => ({ statusId: parentId, replies: -1 }))
        )
        return rows
      })
      const chosen = (owner: bigint) =>
        sql`SELECT r.id, p.id AS parent_id FROM statuses r JOIN statuses p ON p.id = r.in_reply_to_id
          WHERE p.account_id = ${owner} AND p.deleted_at IS NULL AND r.deleted_at IS NULL
            AND r.account_id <> ${owner} AND NOT EXISTS (SELECT FROM interaction_requests q
              WHERE q.interaction_id = r.id AND q.state = 'pending')`

      return ReplyRemovals.of({
        one: traced("ReplyRemovals.one")((owner, replyId, statusId) =>
          Effect.map(
            remove(sql`${chosen(owner)} AND r.id = ${replyId} AND p.id = coalesce(${statusId ?? null}, p.id)`),
            ([row]) => row
          )
        ),
        allOf: traced("ReplyRemovals.allOf")((owner, account) =>
          remove(
            sql`${chosen(owner)} AND r.account_id = ${account} ORDER BY r.id DESC
              LIMIT ${rowsMax(sql, separatedMax)}`
          )
        )
      })
    })
  )
}
