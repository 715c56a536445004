import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import type { Fragment } from "effect/sql/Statement"
import * as Counters from "../Counters.ts"
import { rowsOf } from "../Rows.ts"
import { traced } from "../Traced.ts"
import { update } from "./StatusRows.ts"

/** Replies of one account that a block takes out of the threads of another, the newest. */
const blockedRepliesMax = 1_000

const Removed = Schema.Struct({
  id: Schema.BigInt,
  accountId: Schema.BigInt,
  local: Schema.Boolean,
  /** Its id where it comes from another server. */
  uri: Schema.NullOr(Schema.String),
  parentId: Schema.BigInt
})
export type RemovedReply = typeof Removed.Type
const removedRows = rowsOf(Removed)

/**
 * Takes replies out of the threads of those whom they answer; in the running transaction of the author of the thread. They stay
 * their authors' posts, which answer nothing any more, and what answers them goes with them.
 */
export class ReplyRemovals extends Context.Service<ReplyRemovals, {
  /** A reply to a status of `owner`, or to this one; undefined where it is none. */
  readonly one: (owner: bigint, replyId: bigint, statusId?: bigint) => Effect.Effect<RemovedReply | undefined, SqlError>
  /** All that `account` answered to statuses of `owner`. */
  readonly allOf: (owner: bigint, account: bigint) => Effect.Effect<ReadonlyArray<RemovedReply>, SqlError>
}>()("murmuration/services/statuses/ReplyRemovals") {
  static readonly layer = Layer.effect(
    ReplyRemovals,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient

      const remove = Effect.fnUntraced(function*(found: Fragment) {
        const rows = yield* removedRows(sql`
          WITH chosen AS MATERIALIZED (${found})
          ${
          update(sql, {
            inReplyToId: null,
            inReplyToAccountId: null,
            inReplyToUri: null,
            conversationId: sql`statuses.id`
          })
        } FROM chosen WHERE statuses.id = chosen.id AND statuses.in_reply_to_id = chosen.parent_id
          RETURNING statuses.id, statuses.account_id, statuses.local, statuses.uri, chosen.parent_id`)
        yield* Counters.count(sql, [], rows.map(({ parentId }) => ({ statusId: parentId, replies: -1 })))
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
            sql`${chosen(owner)} AND r.account_id = ${account} ORDER BY r.id DESC LIMIT ${
              sql.literal(String(blockedRepliesMax))
            }`
          )
        )
      })
    })
  )
}
