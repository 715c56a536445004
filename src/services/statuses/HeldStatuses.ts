import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { type Fragment, isFragment } from "effect/sql/Statement"
import * as Counters from "../database/Counters.ts"
import { rowsOf, Timestamptz } from "../database/Rows.ts"
import * as RowChanges from "../events/RowChanges.ts"
import { traced } from "../runtime/Traced.ts"
import type { KnownRequest } from "./InteractionRequest.ts"
import { update } from "./StatusRows.ts"
import * as Tagging from "./Tagging.ts"

const approverRows = rowsOf(Schema.Struct({ approver: Schema.BigInt }))
const placeRows = rowsOf(Schema.Struct({
  accountId: Schema.BigInt,
  inReplyToId: Schema.NullOr(Schema.BigInt),
  reblogOfId: Schema.NullOr(Schema.BigInt),
  quotedId: Schema.NullOr(Schema.BigInt),
  createdAt: Timestamptz
}))

/**
 * Condition: a row of `statuses` under `alias` is held: it waits for the author that it replies to or boosts, or for a
 * moderator. It is not counted, and neither is its quote.
 */
export const isHeldPost = (sql: SqlClient.SqlClient, alias: string): Fragment => {
  const s = sql.literal(alias)
  return sql`(${s}.visibility = 'direct' AND (
    EXISTS (SELECT FROM interaction_requests waiting
      WHERE waiting.interaction_id = ${s}.id AND waiting.state = 'pending' OFFSET 0)
    OR EXISTS (SELECT FROM held_posts reviewed WHERE reviewed.status_id = ${s}.id OFFSET 0)))`
}

/** Condition: a row of `statuses` under `alias` is held, and not the viewer's: approvers find it by its request only. */
export const waitsForOthers = (sql: SqlClient.SqlClient, viewer: bigint | Fragment, alias: string): Fragment => {
  const reader = isFragment(viewer) ? viewer : sql`${viewer}`
  return sql`(${sql.literal(alias)}.account_id <> ${reader} AND ${isHeldPost(sql, alias)})`
}

/**
 * Replies and boosts that wait for approval. Until then only the author, and for a reply the approver, can see it, as
 * visibility is direct; no other code needs to know. Called in the current transaction.
 */
export class HeldStatuses extends Context.Service<HeldStatuses, {
  /** Holds a new, unpublished status; the request stores its audience. */
  readonly hold: (statusId: bigint, requestId: bigint, approver: bigint | null) => Effect.Effect<void, SqlError>
  /** Holds a status again after an edit, which may mention other accounts. */
  readonly holdAgain: (statusId: bigint) => Effect.Effect<void, SqlError>
  /** Returns true if a status is held. */
  readonly isHeld: (statusId: bigint) => Effect.Effect<boolean, SqlError>
  /** Publishes a held status to its audience; false if it is deleted. */
  readonly publish: (request: KnownRequest) => Effect.Effect<boolean, SqlError>
  /**
   * Adds or removes a status in the counters of its author, its parent, its original and the status that it quotes;
   * held statuses are not counted.
   */
  readonly count: (statusId: bigint, by: 1 | -1) => Effect.Effect<void, SqlError>
  /** Reverts the counts of a status that was just written and will be held. */
  readonly uncount: (statusId: bigint) => Effect.Effect<void, SqlError>
  /** Counts a status when it is published; its author's last post is updated. */
  readonly countPublished: (statusId: bigint) => Effect.Effect<void, SqlError>
  /** Detaches a rejected reply from its thread: it stays visible to its author, and counts as a post of theirs. */
  readonly detach: (statusId: bigint) => Effect.Effect<void, SqlError>
}>()("murmuration/services/statuses/HeldStatuses") {
  static readonly layer = Layer.effect(
    HeldStatuses,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const tracked = yield* RowChanges.make

      /** Changes the counters; `shown` also updates the time of the author's last post. */
      const countAs = Effect.fnUntraced(function*(statusId: bigint, by: 1 | -1, shown: boolean) {
        const [place] = yield* placeRows(sql`SELECT account_id, in_reply_to_id, reblog_of_id, created_at,
            (SELECT quoted_status_id FROM quotes WHERE status_id = id AND state = 'accepted') AS quoted_id
          FROM statuses WHERE id = ${statusId}`)
        if (place === undefined) return
        const { accountId, createdAt, inReplyToId, quotedId, reblogOfId } = place
        yield* Counters.count(
          { sql, tracked },
          [{ accountId, statuses: by }],
          [
            ...(inReplyToId === null ? [] : [{ statusId: inReplyToId, replies: by }]),
            ...(reblogOfId === null ? [] : [{ statusId: reblogOfId, reblogs: by }]),
            ...(quotedId === null ? [] : [{ statusId: quotedId, quotes: by }])
          ],
          shown ? createdAt : null
        )
      })
      const count = traced("HeldStatuses.count")((statusId: bigint, by: 1 | -1) => countAs(statusId, by, false))
      /** Resets the time of the author's last post to the newest published one. */
      const unposted = (statusId: bigint) =>
        sql`UPDATE account_stats n SET last_status_at = (SELECT o.created_at FROM statuses o
            WHERE o.account_id = s.account_id AND o.id <> s.id AND o.deleted_at IS NULL AND NOT EXISTS (
              SELECT FROM interaction_requests r WHERE r.interaction_id = o.id AND r.state = 'pending')
              AND NOT EXISTS (SELECT FROM held_posts h WHERE h.status_id = o.id)
            ORDER BY o.id DESC LIMIT 1)
          FROM statuses s WHERE s.id = ${statusId} AND n.account_id = s.account_id AND n.last_status_at = s.created_at`
      const uncount = traced("HeldStatuses.uncount")(function*(statusId: bigint) {
        yield* Tagging.revertUses(sql, statusId)
        yield* count(statusId, -1)
        yield* unposted(statusId)
      })
      const shown = traced("HeldStatuses.countPublished")(function*(statusId: bigint) {
        yield* Tagging.countUses(sql, statusId)
        yield* countAs(statusId, 1, true)
      })

      /** Stores the mentioned accounts in the request, and silences all mentions. */
      const silenceMentions = Effect.fnUntraced(function*(statusId: bigint) {
        yield* tracked("status", [statusId])(sql`UPDATE interaction_requests SET
            mentioned = ARRAY(SELECT account_id FROM mentions WHERE status_id = ${statusId} AND NOT silent AND NOT quiet),
            readers = ARRAY(SELECT account_id FROM mentions WHERE status_id = ${statusId} AND NOT silent AND quiet)
          WHERE interaction_id = ${statusId}`)
        yield* tracked("status", [statusId])(sql`UPDATE mentions SET silent = true WHERE status_id = ${statusId}`)
      })
      /** Lets the approver read a reply. */
      const grantRead = (statusId: bigint, approver: bigint) =>
        tracked("status", [statusId])(
          sql`INSERT INTO mentions (status_id, account_id, quiet) VALUES (${statusId}, ${approver}, true)
          ON CONFLICT (status_id, account_id) DO UPDATE SET silent = false, quiet = true`
        )

      return HeldStatuses.of({
        hold: traced("HeldStatuses.hold")(function*(statusId, requestId, approver) {
          yield* tracked("status", [statusId])(
            sql`UPDATE interaction_requests SET visibility = s.visibility FROM statuses s
            WHERE interaction_requests.id = ${requestId} AND s.id = ${statusId}`
          )
          yield* uncount(statusId)
          yield* tracked("status", [statusId])(sql`${update(sql, { visibility: "direct" })} WHERE id = ${statusId}`)
          yield* silenceMentions(statusId)
          if (approver !== null) yield* grantRead(statusId, approver)
        }),
        holdAgain: traced("HeldStatuses.holdAgain")(function*(statusId) {
          yield* silenceMentions(statusId)
          const [waiting] = yield* approverRows(sql`SELECT r.target_account_id AS approver FROM interaction_requests r
            JOIN accounts a ON a.id = r.target_account_id WHERE r.interaction_id = ${statusId} AND a.domain IS NULL`)
          if (waiting !== undefined) yield* grantRead(statusId, waiting.approver)
        }),
        isHeld: traced("HeldStatuses.isHeld")((statusId) =>
          Effect.map(
            sql`SELECT FROM interaction_requests WHERE interaction_id = ${statusId} AND state = 'pending'`,
            (rows) => rows.length > 0
          )
        ),
        publish: traced("HeldStatuses.publish")(
          function*({ interactionId, mentioned, readers, targetAccountId, visibility }) {
            if (interactionId === null || visibility === null) return false
            const rows = yield* tracked("status", [interactionId])(
              sql`${update(sql, { visibility })} WHERE id = ${interactionId} AND deleted_at IS NULL
              RETURNING id`
            )
            if (rows.length === 0) return false
            yield* tracked("status", [interactionId])(
              sql`DELETE FROM mentions WHERE status_id = ${interactionId} AND account_id = ${targetAccountId}
              AND account_id <> ALL (${[...mentioned, ...readers]}::bigint[])`
            )
            yield* tracked("status", [interactionId])(
              sql`UPDATE mentions SET silent = false, quiet = account_id = ANY (${readers}::bigint[])
              WHERE status_id = ${interactionId} AND account_id = ANY (${[...mentioned, ...readers]}::bigint[])`
            )
            yield* shown(interactionId)
            return true
          }
        ),
        count,
        uncount,
        countPublished: shown,
        detach: traced("HeldStatuses.detach")(function*(statusId) {
          yield* tracked("status", [statusId])(
            sql`WITH alone AS (UPDATE mentions SET silent = true WHERE status_id = ${statusId})
            ${
              update(sql, {
                inReplyToId: null,
                inReplyToAccountId: null,
                inReplyToUri: null,
                conversationId: sql`id`
              })
            } WHERE id = ${statusId}`
          )
          yield* countAs(statusId, 1, true)
        })
      })
    })
  )
}
