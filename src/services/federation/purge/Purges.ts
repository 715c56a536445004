import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import type { AccountId } from "../../database/Ids.ts"
import { idRows, rowsOf } from "../../database/Rows.ts"
import { Broadcast } from "../../events/Broadcast.ts"
import * as RowChanges from "../../events/RowChanges.ts"
import { AgendaEntries } from "../../intents/AgendaEntries.ts"
import { traced } from "../../runtime/Traced.ts"
import { update } from "../../statuses/StatusRows.ts"
import * as PurgedPosts from "./PurgedPosts.ts"
import * as PurgedRows from "./PurgedRows.ts"

const uriRows = rowsOf(Schema.Struct({ uri: Schema.String }))

/** Retention of deleted actors and their keys, in milliseconds: longer than any signature is valid. */
const deletedActorMillisMin = 7 * 86_400_000
/** Interval of checks whether moderators have closed the reports of kept posts, in milliseconds. */
const reportedMillis = 86_400_000

/** Delay while a local account's last activities are sent, in milliseconds; then this is checked again. */
const lastSendMillis = 1_000

/**
 * Deletes accounts. They are hidden at once, and their rows are removed in slices. A remote account's id becomes free:
 * an actor with the id and another key is a new account. A local account's name is never reused. Its row stays, too, as
 * it signs its last activities (row 11).
 */
export class Purges extends Context.Service<Purges, {
  /** Marks a remote account as deleted, in the current transaction. */
  readonly begin: (accountId: AccountId) => Effect.Effect<void, SqlError>
  /**
   * Marks a local account as deleted, and deletes its user; false if it is deleted already or not local. Its last
   * activities are sent before its posts and follows are removed, as these determine the recipients.
   */
  readonly retire: (accountId: AccountId) => Effect.Effect<boolean, SqlError>
  /** Starts removing the content of a suspended remote account; the account stays, and stays suspended. */
  readonly empty: (accountId: AccountId) => Effect.Effect<void, SqlError>
  /** Removes a slice of the remaining rows, in a transaction of the account's actor, and schedules the next one. */
  readonly advance: (accountId: AccountId) => Effect.Effect<void, SqlError>
  /** Returns true if this id with one of these keys, as PEM texts, was deleted recently. */
  readonly isGone: (uri: string, publicPems: ReadonlyArray<string>) => Effect.Effect<boolean, SqlError>
  /** Deletes records of accounts that were deleted long ago, at most `rows`. */
  readonly sweep: (rows: number) => Effect.Effect<void, SqlError>
}>()("murmuration/services/federation/purge/Purges") {
  static readonly layer = Layer.effect(
    Purges,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const agenda = yield* AgendaEntries
      const broadcast = yield* Broadcast
      const tracked = yield* RowChanges.make
      const retentionStart = Effect.map(Clock.currentTimeMillis, (now) => new Date(now - deletedActorMillisMin))

      const begin = traced("Purges.begin")(function*(accountId: AccountId) {
        const now = yield* Clock.currentTimeMillis
        const at = new Date(now)
        const [deleted] = yield* uriRows(sql`SELECT a.uri FROM accounts a JOIN remote_actors r ON r.account_id = a.id
          WHERE a.id = ${accountId} FOR UPDATE`)
        if (deleted === undefined) return
        yield* sql`INSERT INTO departed_actors (uri, public_pems, departed_at)
          SELECT ${deleted.uri}, ARRAY(SELECT public_pem FROM remote_keys WHERE account_id = ${accountId}), ${at}
          ON CONFLICT (uri) DO UPDATE SET departed_at = excluded.departed_at,
            public_pems = departed_actors.public_pems || excluded.public_pems`
        yield* sql`DELETE FROM remote_keys WHERE account_id = ${accountId}`
        yield* sql`DELETE FROM remote_actors WHERE account_id = ${accountId}`
        yield* tracked("account", [accountId])(
          sql`UPDATE accounts SET suspended_at = coalesce(suspended_at, ${at}), uri = 'gone:' || id,
          username = id::text, domain = 'handle.invalid', display_name = '', note_html = '', fields = '[]',
          avatar_remote_url = NULL, header_remote_url = NULL, moved_to_id = NULL WHERE id = ${accountId}`
        )
        yield* agenda.enqueue("purge", accountId, accountId, now)
      })

      const retire = traced("Purges.retire")(function*(accountId: AccountId) {
        const now = yield* Clock.currentTimeMillis
        const at = new Date(now)
        const retired = yield* sql`INSERT INTO retired_usernames (username, retired_at)
          SELECT lower(username), ${at} FROM accounts WHERE id = ${accountId} AND domain IS NULL
          ON CONFLICT DO NOTHING RETURNING username`
        if (retired.length === 0) return false
        // The user's sessions, tokens and grants are deleted with the row.
        yield* tracked("user", [accountId])(sql`DELETE FROM users WHERE account_id = ${accountId}`)
        yield* tracked("account", [accountId])(
          sql`UPDATE accounts SET suspended_at = coalesce(suspended_at, ${at}), display_name = '', note = '',
          note_html = '', fields = '[]', also_known_as = '{}', attribution_domains = '{}', moved_to_id = NULL,
          avatar_name = NULL, avatar_static_name = NULL, avatar_hash = NULL, header_name = NULL, header_static_name = NULL,
          avatar_description = '', header_description = '' WHERE id = ${accountId}`
        )
        yield* sql`UPDATE stored_files SET account_id = NULL WHERE account_id = ${accountId}`
        yield* sql`DELETE FROM moves WHERE account_id = ${accountId}`
        yield* sql`DELETE FROM agenda WHERE account_id = ${accountId}`
        yield* agenda.enqueue("purge", accountId, accountId, now)
        yield* sql.afterCommit(
          broadcast.publish({ _tag: "Revoked", tokenIds: [], accountIds: [accountId] })
        )
        return true
      })

      /** Returns true if a local account still has activities to send. */
      const hasUnsent = (accountId: AccountId) =>
        Effect.map(
          sql`SELECT FROM fanouts f JOIN accounts a ON a.id = f.account_id AND a.domain IS NULL
            WHERE f.account_id = ${accountId} LIMIT 1`,
          (rows) => rows.length > 0
        )

      /** Hides posts that are kept for reports; a remote account's row is deleted with the last of them. */
      const end = Effect.fnUntraced(function*(accountId: AccountId) {
        const now = yield* Clock.currentTimeMillis
        yield* tracked("status", (rows: ReadonlyArray<{ readonly id: bigint }>) => rows.map(({ id }) => id))(
          idRows(
            sql`${
              update(sql, { deletedAt: new Date(now) })
            } WHERE account_id = ${accountId} AND deleted_at IS NULL RETURNING id`
          )
        )
        const deleted = yield* tracked("account", [accountId])(
          sql`WITH over AS (SELECT a.id, a.domain FROM accounts a WHERE a.id = ${accountId}
          AND NOT EXISTS (SELECT FROM statuses s WHERE s.account_id = a.id)
          AND NOT EXISTS (SELECT FROM reports t WHERE t.target_account_id = a.id AND t.action_taken_at IS NULL)),
          gone AS (DELETE FROM accounts WHERE id IN (SELECT id FROM over WHERE domain IS NOT NULL
            AND NOT EXISTS (SELECT FROM remote_actors r WHERE r.account_id = over.id)))
          SELECT id FROM over`
        )
        if (deleted.length === 0) return yield* agenda.enqueue("purge", accountId, accountId, now + reportedMillis)
        yield* sql`DELETE FROM agenda WHERE account_id = ${accountId}`
      })

      const advance = traced("Purges.advance")(function*(accountId: AccountId) {
        const now = yield* Clock.currentTimeMillis
        const more = agenda.enqueue("purge", accountId, accountId, now)
        if (yield* hasUnsent(accountId)) {
          return yield* agenda.enqueue("purge", accountId, accountId, now + lastSendMillis)
        }
        const left = yield* tracked("account", (slice: PurgedRows.PurgedSlice | undefined) => slice?.accountIds ?? [])(
          tracked("relations", (slice: PurgedRows.PurgedSlice | undefined) => slice?.relationIds ?? [])(
            tracked("status", (slice: PurgedRows.PurgedSlice | undefined) => slice?.statusIds ?? [])(
              PurgedRows.deleteBatch(sql, accountId)
            )
          )
        )
        if (left !== undefined) return yield* more
        const changed = yield* tracked("status", (ids: ReadonlyArray<bigint>) => ids)(
          tracked("account", [accountId])(PurgedPosts.deleteBatch(sql, accountId))
        )
        if (changed.length === 0) return yield* end(accountId)
        yield* more
      })

      return Purges.of({
        begin,
        retire,
        empty: traced("Purges.empty")((accountId) =>
          Effect.flatMap(Clock.currentTimeMillis, (now) => agenda.enqueue("purge", accountId, accountId, now))
        ),
        advance,
        isGone: traced("Purges.isGone")(function*(uri, publicPems) {
          const rows = yield* sql`SELECT FROM departed_actors WHERE uri = ${uri}
            AND departed_at > ${yield* retentionStart} AND ARRAY(SELECT regexp_replace(pem, '\\s', '', 'g') FROM unnest(public_pems) AS pem)
            && ARRAY(SELECT regexp_replace(pem, '\\s', '', 'g') FROM unnest(${publicPems}::text[]) AS pem)`
          return rows.length > 0
        }),
        sweep: traced("Purges.sweep")(function*(rows) {
          yield* sql`DELETE FROM departed_actors WHERE uri IN (
            SELECT uri FROM departed_actors WHERE departed_at < ${yield* retentionStart} LIMIT ${rows})`
        })
      })
    })
  )
}
