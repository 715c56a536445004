import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { type Fragment, isFragment } from "effect/sql/Statement"
import * as Counters from "../Counters.ts"
import { rowsOf, Timestamptz } from "../Rows.ts"
import { traced } from "../Traced.ts"
import type { KnownRequest } from "./InteractionRequest.ts"
import { update } from "./StatusRows.ts"

const approverRows = rowsOf(Schema.Struct({ approver: Schema.BigInt }))
const placeRows = rowsOf(Schema.Struct({
  accountId: Schema.BigInt,
  inReplyToId: Schema.NullOr(Schema.BigInt),
  reblogOfId: Schema.NullOr(Schema.BigInt),
  createdAt: Timestamptz
}))

/** Whether a row of `statuses` under `alias` waits that the viewer did not write: whoever decides finds it by its request alone. */
export const waitsForOthers = (sql: SqlClient.SqlClient, viewer: bigint | Fragment, alias: string): Fragment => {
  const s = sql.literal(alias)
  const reader = isFragment(viewer) ? viewer : sql`${viewer}`
  return sql`(${s}.visibility = 'direct' AND ${s}.account_id <> ${reader} AND EXISTS (SELECT FROM interaction_requests waiting
    WHERE waiting.interaction_id = ${s}.id AND waiting.state = 'pending' OFFSET 0))`
}

/**
 * Replies and reblogs that wait for consent. Until then one is a status for nobody beside its author, and for a reply whoever
 * decides: so that nothing else needs to know of it. In the running transaction.
 */
export class HeldStatuses extends Context.Service<HeldStatuses, {
  /** Keeps a status from everybody that was just written and is told to nobody yet; the request remembers for whom it is. */
  readonly hold: (statusId: bigint, requestId: bigint, approver: bigint | null) => Effect.Effect<void, SqlError>
  /** The same once more after an edit, which may name others. */
  readonly holdAgain: (statusId: bigint) => Effect.Effect<void, SqlError>
  /** Whether a status waits. */
  readonly isHeld: (statusId: bigint) => Effect.Effect<boolean, SqlError>
  /** Makes it one for all for whom it is; false where it is gone. */
  readonly reveal: (request: KnownRequest) => Effect.Effect<boolean, SqlError>
  /** Counts one among its author's posts and where it stands, or no more: what waits counts nowhere. */
  readonly count: (statusId: bigint, by: 1 | -1) => Effect.Effect<void, SqlError>
  /** Takes it out of its thread for good: it stays for its author alone, and is one of their posts now. */
  readonly detach: (statusId: bigint) => Effect.Effect<void, SqlError>
}>()("murmuration/services/statuses/HeldStatuses") {
  static readonly layer = Layer.effect(
    HeldStatuses,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient

      const count = traced("HeldStatuses.count")(function*(statusId: bigint, by: 1 | -1) {
        const [place] = yield* placeRows(sql`SELECT account_id, in_reply_to_id, reblog_of_id, created_at
          FROM statuses WHERE id = ${statusId}`)
        if (place === undefined) return
        const { accountId, createdAt, inReplyToId, reblogOfId } = place
        yield* Counters.count(
          sql,
          [{ accountId, statuses: by }],
          [
            ...(inReplyToId === null ? [] : [{ statusId: inReplyToId, replies: by }]),
            ...(reblogOfId === null ? [] : [{ statusId: reblogOfId, reblogs: by }])
          ],
          createdAt
        )
      })

      /** Notes who is named, and that nobody knows of it but the one who decides. */
      const silence = Effect.fnUntraced(function*(statusId: bigint) {
        yield* sql`UPDATE interaction_requests SET
            mentioned = ARRAY(SELECT account_id FROM mentions WHERE status_id = ${statusId} AND NOT silent AND NOT quiet),
            readers = ARRAY(SELECT account_id FROM mentions WHERE status_id = ${statusId} AND NOT silent AND quiet)
          WHERE interaction_id = ${statusId}`
        yield* sql`UPDATE mentions SET silent = true WHERE status_id = ${statusId}`
      })
      /** Who decides may read a reply. */
      const admit = (statusId: bigint, approver: bigint) =>
        sql`INSERT INTO mentions (status_id, account_id, quiet) VALUES (${statusId}, ${approver}, true)
          ON CONFLICT (status_id, account_id) DO UPDATE SET silent = false, quiet = true`

      return HeldStatuses.of({
        hold: traced("HeldStatuses.hold")(function*(statusId, requestId, approver) {
          yield* sql`UPDATE interaction_requests SET visibility = s.visibility FROM statuses s
            WHERE interaction_requests.id = ${requestId} AND s.id = ${statusId}`
          yield* sql`${update(sql, { visibility: "direct" })} WHERE id = ${statusId}`
          yield* silence(statusId)
          if (approver !== null) yield* admit(statusId, approver)
          yield* count(statusId, -1)
        }),
        holdAgain: traced("HeldStatuses.holdAgain")(function*(statusId) {
          yield* silence(statusId)
          const [waiting] = yield* approverRows(sql`SELECT r.target_account_id AS approver FROM interaction_requests r
            JOIN accounts a ON a.id = r.target_account_id WHERE r.interaction_id = ${statusId} AND a.domain IS NULL`)
          if (waiting !== undefined) yield* admit(statusId, waiting.approver)
        }),
        isHeld: traced("HeldStatuses.isHeld")((statusId) =>
          Effect.map(
            sql`SELECT FROM interaction_requests WHERE interaction_id = ${statusId} AND state = 'pending'`,
            (rows) => rows.length > 0
          )
        ),
        reveal: traced("HeldStatuses.reveal")(
          function*({ interactionId, mentioned, readers, targetAccountId, visibility }) {
            if (interactionId === null || visibility === null) return false
            const rows = yield* sql`${update(sql, { visibility })} WHERE id = ${interactionId} AND deleted_at IS NULL
              RETURNING id`
            if (rows.length === 0) return false
            yield* sql`DELETE FROM mentions WHERE status_id = ${interactionId} AND account_id = ${targetAccountId}
              AND account_id <> ALL (${[...mentioned, ...readers]}::bigint[])`
            yield* sql`UPDATE mentions SET silent = false, quiet = account_id = ANY (${readers}::bigint[])
              WHERE status_id = ${interactionId} AND account_id = ANY (${[...mentioned, ...readers]}::bigint[])`
            yield* count(interactionId, 1)
            return true
          }
        ),
        count,
        detach: traced("HeldStatuses.detach")(function*(statusId) {
          yield* sql`WITH alone AS (UPDATE mentions SET silent = true WHERE status_id = ${statusId})
            ${
            update(sql, {
              inReplyToId: null,
              inReplyToAccountId: null,
              inReplyToUri: null,
              conversationId: sql`id`
            })
          } WHERE id = ${statusId}`
          yield* count(statusId, 1)
        })
      })
    })
  )
}
