import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { rowsMax } from "../database/Paging.ts"
import * as RowChanges from "../events/RowChanges.ts"
import { ServerConfig } from "../instance/ServerConfig.ts"
import { type Kind, kindOf, sweptAll } from "./Sweeping.ts"
import { unusedRecords } from "./UnusedRecords.ts"

/** Deletes expired rows (limits-and-rates.md sections 4 and 5). */
export class Retention extends Context.Service<Retention, {
  /**
   * Sweeps all kinds; returns how many rows were deleted. Any node may run it, any number of times. A kind that fails
   * is logged and does not block the others.
   */
  readonly sweep: Effect.Effect<number>
}>()("murmuration/services/intents/Retention") {
  static readonly layer = Layer.effect(
    Retention,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const tracked = yield* RowChanges.make
      const { unusedDays } = yield* ServerConfig

      /** Rows of a table that are older than `days`. */
      const old = (table: string, column: string, days: number): Kind =>
        kindOf(table, (ago, rows) =>
          sql`DELETE FROM ${sql(table)} WHERE ctid = ANY (ARRAY(
            SELECT ctid FROM ${sql(table)} WHERE ${sql(column)} < ${ago(days)} LIMIT ${
            rowsMax(sql, rows)
          })) RETURNING 1`)
      const kinds: ReadonlyArray<Kind> = [
        old("mail_tokens", "expires_at", 0),
        old("pending_sign_ins", "expires_at", 0),
        old("form_pages", "expires_at", 0),
        old("visitor_form_pages", "expires_at", 0),
        old("oauth_grants", "expires_at", 1),
        old("oauth_tokens", "revoked_at", 1),
        old("sessions", "seen_at", 365),
        old("weekly_logins", "week", 190),
        old("active_days", "day", 190),
        old("tag_days", "day", 14),
        old("card_days", "day", 14),
        old("email_domain_block_days", "day", 14),
        old("ip_blocks", "expires_at", 1),
        old("look_ups", "begun_at", 2),
        old("lookup_paces", "rested_at", 1),
        old("translations", "created_at", 1),
        old("encrypted_messages", "created_at", 30),
        old("email_digests", "created_at", 2),
        old("spam_scores", "scored_at", 90),
        old("spam_domain_scores", "scored_at", 90),
        old("pushes", "created_at", 2),
        // Deletes soft-deleted statuses after 30 days, unless an open report names them (S-066). A reblog is deleted
        // before its original.
        kindOf("deleted statuses", (ago, rows) =>
          sql`DELETE FROM statuses WHERE id IN (
              SELECT s.id FROM statuses s WHERE s.deleted_at < ${ago(30)}
                AND NOT EXISTS (SELECT FROM reports t WHERE t.action_taken_at IS NULL AND t.status_ids @> ARRAY[s.id])
                AND NOT EXISTS (SELECT FROM statuses r WHERE r.reblog_of_id = s.id) LIMIT ${
            rowsMax(sql, rows)
          }) RETURNING 1`),
        // Frees the names of users who did not confirm within a week and have no posts.
        kindOf("users who did not confirm", (ago, rows) =>
          sql`DELETE FROM accounts WHERE id IN (
              SELECT u.account_id FROM users u WHERE u.confirmed_at IS NULL AND u.created_at < ${ago(7)}
                AND NOT EXISTS (SELECT FROM statuses s WHERE s.account_id = u.account_id)
              LIMIT ${rowsMax(sql, rows)}) RETURNING 1`),
        // The lines of an import are deleted in batches, before the import.
        kindOf("lines of old imports", (ago, rows) =>
          sql`DELETE FROM transfer_lines WHERE ctid = ANY (ARRAY(
              SELECT l.ctid FROM transfers t JOIN transfer_lines l ON l.transfer_id = t.id
              WHERE t.expires_at < ${ago(0)} LIMIT ${rowsMax(sql, rows)})) RETURNING 1`),
        // Files and posts of transfers that did not finish: uploads, files of archives, and parts of unfinished ones.
        kindOf(
          "files of ended transfers",
          (_, rows) =>
            sql`UPDATE stored_files SET transfer_id = NULL WHERE ctid = ANY (ARRAY(
              SELECT f.ctid FROM transfers t JOIN stored_files f ON f.transfer_id = t.id
              WHERE t.state IN ('failed', 'cancelled') LIMIT ${rowsMax(sql, rows)})) RETURNING 1`
        ),
        kindOf("file names of ended imports", (_, rows) =>
          sql`DELETE FROM archive_files WHERE ctid = ANY (ARRAY(
              SELECT f.ctid FROM transfers t JOIN archive_files f ON f.transfer_id = t.id
              WHERE t.state IN ('failed', 'cancelled') LIMIT ${rowsMax(sql, rows)})) RETURNING 1`),
        kindOf("posts of ended imports", (ago, rows) =>
          sql`DELETE FROM archive_items WHERE ctid = ANY (ARRAY(
              SELECT i.ctid FROM transfers t JOIN archive_items i ON i.transfer_id = t.id
              WHERE t.state IN ('failed', 'cancelled') OR t.expires_at < ${ago(0)} LIMIT ${
            rowsMax(sql, rows)
          })) RETURNING 1`),
        kindOf(
          "transfers",
          (ago, rows) =>
            sql`DELETE FROM transfers WHERE id IN (SELECT t.id FROM transfers t WHERE t.expires_at < ${ago(0)}
              AND t.options -> 'secrets' IS NULL
              AND NOT EXISTS (SELECT FROM transfer_lines l WHERE l.transfer_id = t.id)
              AND NOT EXISTS (SELECT FROM archive_items i WHERE i.transfer_id = t.id)
              LIMIT ${rowsMax(sql, rows)}) RETURNING 1`
        ),
        // Deletes subscriptions that were not confirmed within a week.
        kindOf("subscriptions without consent", (ago, rows) =>
          sql`DELETE FROM email_subscriptions WHERE id IN (
              SELECT id FROM email_subscriptions WHERE confirmed_at IS NULL AND created_at < ${ago(7)}
              LIMIT ${rowsMax(sql, rows)}) RETURNING 1`),
        // Anyone may create apps and app tokens, so they are deleted after 90 days without use. Apps that users
        // authorized are kept.
        kindOf("tokens of apps", (ago, rows) =>
          sql`DELETE FROM oauth_tokens WHERE id IN (
              SELECT id FROM oauth_tokens WHERE account_id IS NULL AND coalesce(last_used_at, created_at) < ${ago(90)}
              LIMIT ${rowsMax(sql, rows)}) RETURNING 1`),
        kindOf("apps", (ago, rows) =>
          sql`DELETE FROM oauth_apps WHERE id IN (
              SELECT a.id FROM oauth_apps a WHERE a.created_at < ${ago(90)} AND a.authorized_at IS NULL
                AND NOT EXISTS (SELECT FROM oauth_tokens t WHERE t.app_id = a.id)
                AND NOT EXISTS (SELECT FROM oauth_grants g WHERE g.app_id = a.id)
              LIMIT ${rowsMax(sql, rows)} FOR UPDATE SKIP LOCKED) RETURNING 1`),
        // Forgets accounts that refused or left a collection; they may be asked again.
        kindOf("collection items", (ago, rows) =>
          sql`DELETE FROM collection_items WHERE id IN (
              SELECT id FROM collection_items WHERE state IN ('rejected', 'revoked') AND updated_at < ${ago(1)}
              LIMIT ${rowsMax(sql, rows)}) RETURNING 1`),
        // Keeps a deleted collection while an open report names it (S-066).
        kindOf("deleted collections", (_, rows) =>
          sql`DELETE FROM kept_collections WHERE id IN (
              SELECT k.id FROM kept_collections k WHERE NOT EXISTS (SELECT FROM reports t WHERE t.action_taken_at IS NULL
                AND t.collection_ids <> '{}' AND t.collection_ids @> ARRAY[k.id]) LIMIT ${
            rowsMax(sql, rows)
          }) RETURNING 1`),
        // A mention of an account that could not be fetched stays a link.
        kindOf("unknown mentions", (_, rows) =>
          sql`DELETE FROM unknown_mentions WHERE ctid = ANY (ARRAY(
              SELECT u.ctid FROM unknown_mentions u WHERE NOT EXISTS (
                SELECT FROM errands e WHERE e.kind = 'mentions' AND e.subject_id = u.status_id)
              LIMIT ${rowsMax(sql, rows)})) RETURNING 1`),
        ...unusedRecords(sql, tracked, unusedDays)
      ]

      const sweep = Effect.gen(function*() {
        const { failures, removed } = yield* sweptAll(kinds)
        const [first] = failures
        if (first !== undefined) {
          yield* Effect.logWarning(
            `retention failed and will be retried for ${failures.map(([name]) => name).join(", ")}`,
            first[1]
          )
        }
        return removed
      }).pipe(Effect.withSpan("Retention.sweep"))

      return Retention.of({ sweep })
    })
  )
}
