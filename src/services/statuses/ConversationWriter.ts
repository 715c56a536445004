import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { rowsOf } from "../database/Rows.ts"
import { policyDecision } from "../notifications/NotificationPolicy.ts"
import { traced } from "../runtime/Traced.ts"
import { eitherBlocks } from "../visibility/HiddenAccounts.ts"

/** A changed row: its id and its owner. */
const ThreadChange = Schema.Struct({ id: Schema.BigInt, accountId: Schema.BigInt })
type ThreadChange = typeof ThreadChange.Type
const threadChangeRows = rowsOf(ThreadChange)

/** Maximum statuses stored in a row, newest first. */
export const threadStatusesMax = 1_000

/** Rows behind `GET /api/v1/conversations`: one for each owner, conversation and set of other participants. */
export class ConversationWriter extends Context.Service<ConversationWriter, {
  /**
   * Adds a direct status to the rows of all local participants whose policy accepts its author
   * (`NotificationPolicy.ts`); idempotent.
   */
  readonly record: (statusId: bigint) => Effect.Effect<ReadonlyArray<ThreadChange>, SqlError>
  /** Removes a deleted status; rows without statuses are deleted. */
  readonly erase: (statusId: bigint) => Effect.Effect<ReadonlyArray<ThreadChange>, SqlError>
}>()("murmuration/services/statuses/ConversationWriter") {
  static readonly layer = Layer.effect(
    ConversationWriter,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      return ConversationWriter.of({
        record: traced("ConversationWriter.record")(function*(statusId) {
          const now = yield* Clock.currentTimeMillis
          return yield* threadChangeRows(sql`
            WITH s AS (SELECT id, account_id, conversation_id FROM statuses
              WHERE id = ${statusId} AND visibility = 'direct' AND deleted_at IS NULL),
            people AS (
              SELECT account_id FROM s UNION
              SELECT m.account_id FROM mentions m JOIN s ON s.id = m.status_id WHERE NOT m.silent)
            INSERT INTO account_conversations
              (id, account_id, conversation_id, participant_ids, status_ids, last_status_id, unread)
            SELECT next_id(${now}), p.account_id, s.conversation_id,
              ARRAY(SELECT q.account_id FROM people q WHERE q.account_id <> p.account_id ORDER BY 1),
              ARRAY[s.id], s.id, p.account_id <> s.account_id
            FROM s, people p JOIN users u ON u.account_id = p.account_id
            WHERE NOT ${eitherBlocks(sql, sql`p.account_id`, sql`s.account_id`)}
              AND (p.account_id = s.account_id OR (SELECT ${policyDecision(sql, new Date(now))} FROM (SELECT
                p.account_id, s.account_id AS from_id, 'mention'::text AS type, s.id AS status_id) r) = 'accept')
            ORDER BY p.account_id
            ON CONFLICT (account_id, conversation_id, participant_ids) DO UPDATE SET
              unread = CASE WHEN EXCLUDED.last_status_id = ANY (account_conversations.status_ids)
                THEN account_conversations.unread ELSE EXCLUDED.unread END,
              status_ids = ARRAY(SELECT DISTINCT x FROM unnest(account_conversations.status_ids || EXCLUDED.status_ids) x
                ORDER BY x DESC LIMIT ${threadStatusesMax}),
              last_status_id = greatest(account_conversations.last_status_id, EXCLUDED.last_status_id)
            RETURNING id, account_id`)
        }),
        erase: traced("ConversationWriter.erase")(function*(statusId) {
          const remaining = yield* threadChangeRows(sql`
            UPDATE account_conversations SET status_ids = array_remove(status_ids, ${statusId}),
              last_status_id = coalesce((SELECT max(x) FROM unnest(array_remove(status_ids, ${statusId})) x), 0)
            WHERE status_ids @> ARRAY[${statusId}]::bigint[] AND account_id IN (
              SELECT account_id FROM statuses WHERE id = ${statusId}
              UNION SELECT account_id FROM mentions WHERE status_id = ${statusId})
            RETURNING id, account_id`)
          yield* sql`DELETE FROM account_conversations WHERE last_status_id = 0 AND ${
            sql.in("id", remaining.length === 0 ? [0n] : remaining.map(({ id }) => id))
          }`
          return remaining
        })
      })
    })
  )
}
