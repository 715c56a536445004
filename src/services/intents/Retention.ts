import { type Cause, Clock, Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"

const day = 86_400_000

/**
 * Maximum rows that one statement deletes, to keep transactions short, and maximum statements for each kind in one
 * sweep.
 */
const retentionRowsMax = 2_000
const statementsMax = 100
/** Pause between statements, so that other work can run. */
const pause = "10 millis"

/** Rows that expire by one rule. */
interface Kind {
  readonly name: string
  /** `ago` returns the time so many days before now. */
  readonly remove: (ago: (days: number) => Date) => Effect.Effect<ReadonlyArray<unknown>, SqlError>
}

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

      /** Returns a kind: rows of a table that are older than so many days. */
      const old = (table: string, column: string, days: number): Kind => ({
        name: table,
        remove: (ago) =>
          sql`DELETE FROM ${sql(table)} WHERE ctid = ANY (ARRAY(
            SELECT ctid FROM ${sql(table)} WHERE ${sql(column)} < ${ago(days)} LIMIT ${retentionRowsMax})) RETURNING 1`
      })
      const kinds: ReadonlyArray<Kind> = [
        old("mail_tokens", "expires_at", 0),
        old("pending_sign_ins", "expires_at", 0),
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
        old("translations", "created_at", 1),
        old("encrypted_messages", "created_at", 30),
        old("email_digests", "created_at", 2),
        old("spam_scores", "scored_at", 90),
        old("spam_domain_scores", "scored_at", 90),
        old("pushes", "created_at", 2),
        {
          // Soft-deleted statuses are deleted after 30 days, unless an open report needs them (S-066); a boost is
          // deleted before its original.
          name: "deleted statuses",
          remove: (ago) =>
            sql`DELETE FROM statuses WHERE id IN (
              SELECT s.id FROM statuses s WHERE s.deleted_at < ${ago(30)}
                AND NOT EXISTS (SELECT FROM reports t WHERE t.action_taken_at IS NULL AND t.status_ids @> ARRAY[s.id])
                AND NOT EXISTS (SELECT FROM statuses r WHERE r.reblog_of_id = s.id) LIMIT ${retentionRowsMax}) RETURNING 1`
        },
        {
          // Users who did not confirm within a week and never posted give their name back.
          name: "users who did not confirm",
          remove: (ago) =>
            sql`DELETE FROM accounts WHERE id IN (
              SELECT u.account_id FROM users u WHERE u.confirmed_at IS NULL AND u.created_at < ${ago(7)}
                AND NOT EXISTS (SELECT FROM statuses s WHERE s.account_id = u.account_id)
              LIMIT ${retentionRowsMax}) RETURNING 1`
        },
        {
          // Subscriptions that were not confirmed within a week.
          name: "subscriptions without consent",
          remove: (ago) =>
            sql`DELETE FROM email_subscriptions WHERE id IN (
              SELECT id FROM email_subscriptions WHERE confirmed_at IS NULL AND created_at < ${ago(7)}
              LIMIT ${retentionRowsMax}) RETURNING 1`
        },
        {
          // Anyone may create apps and app tokens; they are deleted after 90 days without use. Apps that users
          // authorized are kept.
          name: "tokens of apps",
          remove: (ago) =>
            sql`DELETE FROM oauth_tokens WHERE id IN (
              SELECT id FROM oauth_tokens WHERE account_id IS NULL AND coalesce(last_used_at, created_at) < ${ago(90)}
              LIMIT ${retentionRowsMax}) RETURNING 1`
        },
        {
          name: "apps",
          remove: (ago) =>
            sql`DELETE FROM oauth_apps WHERE id IN (
              SELECT a.id FROM oauth_apps a WHERE a.created_at < ${ago(90)} AND a.authorized_at IS NULL
                AND NOT EXISTS (SELECT FROM oauth_tokens t WHERE t.app_id = a.id)
                AND NOT EXISTS (SELECT FROM oauth_grants g WHERE g.app_id = a.id)
              LIMIT ${retentionRowsMax} FOR UPDATE SKIP LOCKED) RETURNING 1`
        },
        {
          // Accounts that rejected or left a collection are forgotten, and may be asked again.
          name: "collection items",
          remove: (ago) =>
            sql`DELETE FROM collection_items WHERE id IN (
              SELECT id FROM collection_items WHERE state IN ('rejected', 'revoked') AND updated_at < ${ago(1)}
              LIMIT ${retentionRowsMax}) RETURNING 1`
        },
        {
          // A deleted collection is kept while an open report names it (S-066).
          name: "deleted collections",
          remove: () =>
            sql`DELETE FROM kept_collections WHERE id IN (
              SELECT k.id FROM kept_collections k WHERE NOT EXISTS (SELECT FROM reports t WHERE t.action_taken_at IS NULL
                AND t.collection_ids <> '{}' AND t.collection_ids @> ARRAY[k.id]) LIMIT ${retentionRowsMax}) RETURNING 1`
        },
        {
          // A mention whose account could not be fetched stays a link.
          name: "unknown mentions",
          remove: () =>
            sql`DELETE FROM unknown_mentions WHERE ctid = ANY (ARRAY(
              SELECT u.ctid FROM unknown_mentions u WHERE NOT EXISTS (
                SELECT FROM errands e WHERE e.kind = 'mentions' AND e.subject_id = u.status_id)
              LIMIT ${retentionRowsMax})) RETURNING 1`
        }
      ]

      /** Deletes until no rows are left, or the sweep's maximum is reached. */
      const removeAll = Effect.fnUntraced(function*({ remove }: Kind) {
        const now = yield* Clock.currentTimeMillis
        let all = 0
        for (let count = 0; count < statementsMax; count++) {
          const { length } = yield* remove((days) => new Date(now - days * day))
          all += length
          if (length < retentionRowsMax) break
          yield* Effect.sleep(pause)
        }
        return all
      })
      const sweep = Effect.gen(function*() {
        let all = 0
        const failures: Array<readonly [name: string, cause: Cause.Cause<SqlError>]> = []
        for (const kind of kinds) {
          all += yield* Effect.catchCause(removeAll(kind), (cause) => {
            failures.push([kind.name, cause])
            return Effect.succeed(0)
          })
        }
        const [first] = failures
        if (first !== undefined) {
          yield* Effect.logWarning(`retention must wait for ${failures.map(([name]) => name).join(", ")}`, first[1])
        }
        return all
      }).pipe(Effect.withSpan("Retention.sweep"))

      return Retention.of({ sweep })
    })
  )
}
