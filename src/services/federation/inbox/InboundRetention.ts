import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { idAt } from "../../database/Ids.ts"
import { rowsMax } from "../../database/Paging.ts"
import { rowsOf } from "../../database/Rows.ts"
import { traced } from "../../runtime/Traced.ts"
import { inboundMillisMin } from "./InboundActivities.ts"
import { sameMax } from "./Undoables.ts"

/** Retention of deleted ids, in milliseconds: longer than their posts are kept here. */
const deletedMillis = 90 * 86_400_000

/**
 * Maximum activities that stay set aside, per sender and in total: the newest. Servers with more are trimmed first.
 */
export const deadMax = { ofSender: 100, ofAll: 10_000 } as const

const lastRows = rowsOf(Schema.Struct({ accountId: Schema.BigInt, uri: Schema.String }))

/** Deletes stale records about remote activities. A sender can thus leave only a bounded number. */
export class InboundRetention extends Context.Service<InboundRetention, {
  /** Processes up to `rows` rows of each kind. */
  readonly sweep: (rows: number) => Effect.Effect<void, SqlError>
}>()("murmuration/services/federation/inbox/InboundRetention") {
  static readonly layer = Layer.effect(
    InboundRetention,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient

      /** An Undo is needed as long as its activity may arrive again (`Tombstones.isInForce`). */
      const tombstones = Effect.fnUntraced(function*(which: "IS NULL" | "IS NOT NULL", before: Date, rows: number) {
        yield* sql`DELETE FROM tombstones WHERE ctid = ANY (ARRAY(SELECT ctid FROM tombstones
          WHERE undone_at ${sql.literal(which)} AND deleted_at < ${before} LIMIT ${rowsMax(sql, rows)}))`
      })

      let last = { accountId: 0n, uri: "" }
      /** Deletes records with `sameMax` later ones of the same effect, and old ones whose target is gone. */
      const undoables = Effect.fnUntraced(function*(now: number, rows: number) {
        const old = idAt(now - inboundMillisMin)
        const [end] = yield* lastRows(sql`
          WITH looked AS MATERIALIZED (SELECT account_id, uri, type, target_id, came_id FROM undoable_activities
            WHERE (account_id, uri) > (${last.accountId}, ${last.uri}) ORDER BY account_id, uri LIMIT ${
          rowsMax(sql, rows)
        }),
          gone AS (DELETE FROM undoable_activities u USING looked s WHERE u.account_id = s.account_id AND u.uri = s.uri
            AND u.came_id = s.came_id AND (EXISTS (SELECT FROM undoable_activities o
                WHERE o.account_id = s.account_id AND o.target_id = s.target_id AND o.type = s.type AND o.came_id > s.came_id
                OFFSET ${sql.literal(String(sameMax - 1))})
              OR (s.came_id < ${old} AND NOT CASE s.type
                WHEN 'EmojiReact' THEN EXISTS (SELECT FROM emoji_reactions WHERE id = s.target_id)
                WHEN 'Follow' THEN EXISTS (SELECT FROM accounts WHERE id = s.target_id)
                WHEN 'Block' THEN EXISTS (SELECT FROM accounts WHERE id = s.target_id)
                ELSE EXISTS (SELECT FROM statuses WHERE id = s.target_id) END)))
          SELECT account_id, uri FROM looked ORDER BY account_id DESC, uri DESC LIMIT 1`)
        last = end ?? { accountId: 0n, uri: "" }
      })

      const deleteDead = sql`DELETE FROM inbound_activities WHERE id IN (SELECT id FROM (
          SELECT id, of_sender, row_number() OVER (ORDER BY of_domain, id DESC) AS of_all FROM (
            SELECT i.id, row_number() OVER (PARTITION BY i.account_id ORDER BY i.id DESC) AS of_sender,
              row_number() OVER (PARTITION BY a.domain ORDER BY i.id DESC) AS of_domain
            FROM inbound_activities i JOIN accounts a ON a.id = i.account_id WHERE i.outcome LIKE 'set aside:%') ranked) dead
        WHERE of_sender > ${deadMax.ofSender} OR of_all > ${deadMax.ofAll})`

      return InboundRetention.of({
        sweep: traced("InboundRetention.sweep")(function*(rows) {
          const now = yield* Clock.currentTimeMillis
          yield* tombstones("IS NOT NULL", new Date(now - inboundMillisMin), rows)
          yield* tombstones("IS NULL", new Date(now - deletedMillis), rows)
          yield* undoables(now, rows)
          yield* deleteDead
        })
      })
    })
  )
}
