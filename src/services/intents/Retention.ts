import { Clock, Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"

const day = 86_400_000

/** Rows of one kind that one sweep removes at most, so that no transaction is long. */
const retentionRowsMax = 2_000

/** Removes what has served its time (limits-and-rates.md sections 4 and 5). */
export class Retention extends Context.Service<Retention, {
  /** One sweep over everything; answers how many rows went. Anybody may run it, any number of times. */
  readonly sweep: Effect.Effect<number, SqlError>
}>()("murmuration/services/intents/Retention") {
  static readonly layer = Layer.effect(
    Retention,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient

      const remove = (table: string, column: string, before: Date) =>
        Effect.map(
          sql`DELETE FROM ${sql(table)} WHERE ctid = ANY (ARRAY(
            SELECT ctid FROM ${sql(table)} WHERE ${sql(column)} < ${before} LIMIT ${retentionRowsMax})) RETURNING 1`,
          (rows) => rows.length
        )

      const sweep = Effect.gen(function*() {
        const now = yield* Clock.currentTimeMillis
        const ago = (days: number) => new Date(now - days * day)
        const removed = [
          yield* remove("mail_tokens", "expires_at", ago(0)),
          yield* remove("pending_sign_ins", "expires_at", ago(0)),
          yield* remove("oauth_grants", "expires_at", ago(1)),
          yield* remove("oauth_tokens", "revoked_at", ago(1)),
          yield* remove("sessions", "seen_at", ago(365)),
          yield* remove("weekly_logins", "week", ago(190)),
          yield* remove("active_days", "day", ago(190)),
          yield* remove("tag_days", "day", ago(14)),
          yield* remove("card_days", "day", ago(14)),
          yield* remove("email_domain_block_days", "day", ago(14)),
          yield* remove("ip_blocks", "expires_at", ago(1)),
          yield* remove("look_ups", "begun_at", ago(2)),
          yield* remove("translations", "created_at", ago(1)),
          yield* remove("encrypted_messages", "created_at", ago(30)),
          yield* remove("email_digests", "created_at", ago(2)),
          yield* remove("spam_scores", "scored_at", ago(90)),
          yield* remove("spam_domain_scores", "scored_at", ago(90)),
          yield* remove("pushes", "created_at", ago(2))
        ]
        // Soft-deleted statuses go for good after 30 days, unless a moderator has still to see them (S-066); a reblog goes
        // before its original.
        const statuses = yield* sql`DELETE FROM statuses WHERE id IN (
          SELECT s.id FROM statuses s WHERE s.deleted_at < ${ago(30)}
            AND NOT EXISTS (SELECT FROM reports t WHERE t.action_taken_at IS NULL AND t.status_ids @> ARRAY[s.id])
            AND NOT EXISTS (SELECT FROM statuses r WHERE r.reblog_of_id = s.id) LIMIT ${retentionRowsMax}) RETURNING 1`
        // A user who did not confirm in a week and has done nothing gives the name back.
        const unconfirmed = yield* sql`DELETE FROM accounts WHERE id IN (
          SELECT u.account_id FROM users u WHERE u.confirmed_at IS NULL AND u.created_at < ${ago(7)}
            AND NOT EXISTS (SELECT FROM statuses s WHERE s.account_id = u.account_id) LIMIT ${retentionRowsMax}) RETURNING 1`
        // Who was asked to confirm a subscription and did not within a week is asked no more.
        const asked = yield* sql`DELETE FROM email_subscriptions WHERE id IN (
          SELECT id FROM email_subscriptions WHERE confirmed_at IS NULL AND created_at < ${ago(7)}
          LIMIT ${retentionRowsMax}) RETURNING 1`
        // Anybody may make apps and tokens of apps; what nobody uses for 90 days goes. Apps that users authorized stay.
        const clientTokens = yield* sql`DELETE FROM oauth_tokens WHERE id IN (
          SELECT id FROM oauth_tokens WHERE account_id IS NULL AND coalesce(last_used_at, created_at) < ${ago(90)}
          LIMIT ${retentionRowsMax}) RETURNING 1`
        const apps = yield* sql`DELETE FROM oauth_apps WHERE id IN (
          SELECT a.id FROM oauth_apps a WHERE a.created_at < ${ago(90)} AND a.authorized_at IS NULL
            AND NOT EXISTS (SELECT FROM oauth_tokens t WHERE t.app_id = a.id)
            AND NOT EXISTS (SELECT FROM oauth_grants g WHERE g.app_id = a.id)
          LIMIT ${retentionRowsMax} FOR UPDATE SKIP LOCKED) RETURNING 1`
        // Who refused or left a collection is not named any more, and may be asked again.
        const left = yield* sql`DELETE FROM collection_items WHERE id IN (
          SELECT id FROM collection_items WHERE state IN ('rejected', 'revoked') AND updated_at < ${ago(1)}
          LIMIT ${retentionRowsMax}) RETURNING 1`
        // A collection that was deleted stays while an open report names it (S-066).
        const kept = yield* sql`DELETE FROM kept_collections WHERE id IN (
          SELECT k.id FROM kept_collections k WHERE NOT EXISTS (SELECT FROM reports t WHERE t.action_taken_at IS NULL
            AND t.collection_ids <> '{}' AND t.collection_ids @> ARRAY[k.id]) LIMIT ${retentionRowsMax}) RETURNING 1`
        // An account that no try could fetch stays a link.
        const links = yield* sql`DELETE FROM unknown_mentions WHERE ctid = ANY (ARRAY(
          SELECT u.ctid FROM unknown_mentions u WHERE NOT EXISTS (
            SELECT FROM errands e WHERE e.kind = 'mentions' AND e.subject_id = u.status_id)
          LIMIT ${retentionRowsMax})) RETURNING 1`
        const others = [asked, kept, left, links, statuses, unconfirmed, clientTokens, apps].map(({ length }) => length)
        return [...removed, ...others].reduce((sum, rows) => sum + rows, 0)
      }).pipe(Effect.withSpan("Retention.sweep"))

      return Retention.of({ sweep })
    })
  )
}
