import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { Broadcast } from "../../Broadcast.ts"
import type { AccountId } from "../../Ids.ts"
import { AgendaEntries } from "../../intents/AgendaEntries.ts"
import { rowsOf } from "../../Rows.ts"
import { update } from "../../statuses/StatusRows.ts"
import { traced } from "../../Traced.ts"
import * as PurgedPosts from "./PurgedPosts.ts"
import * as PurgedRows from "./PurgedRows.ts"

const uriRows = rowsOf(Schema.Struct({ uri: Schema.String }))

/** How long it is known who is gone and with which keys, in milliseconds: longer than any signature holds. */
const departedMillisMin = 7 * 86_400_000
/** How often it is looked whether moderators are done with what had to stay for them, in milliseconds. */
const reportedMillis = 86_400_000

/** How long the posts of a local account wait for other servers to be told. Then that is looked at again. */
const farewellMillis = 1_000

/**
 * Accounts that are gone. Nothing of them is shown from then on; their rows go in slices. The id of a remote one is
 * free: an actor that has it afterwards with another key is somebody else. The name of a local one stays its own for
 * ever. So does its row, which signs what is still to be said (row 11).
 */
export class Purges extends Context.Service<Purges, {
  /** The remote account is gone from now on, in the running transaction. */
  readonly begin: (accountId: AccountId) => Effect.Effect<void, SqlError>
  /**
   * The same for a local account, whose user ends with it; false where it is gone already, or is none. Its last
   * activities leave before its posts and follows go, which say to whom.
   */
  readonly retire: (accountId: AccountId) => Effect.Effect<boolean, SqlError>
  /** What a suspended account of another server wrote and did goes; the account stays, and stays suspended. */
  readonly empty: (accountId: AccountId) => Effect.Effect<void, SqlError>
  /** Removes a slice of what is left, in a transaction of the account's actor. Enters when to go on. */
  readonly advance: (accountId: AccountId) => Effect.Effect<void, SqlError>
  /** Whether this id with one of these keys, as PEM texts, was deleted lately. */
  readonly isGone: (uri: string, publicPems: ReadonlyArray<string>) => Effect.Effect<boolean, SqlError>
  /** Forgets who is gone for long; at most `rows` rows. */
  readonly sweep: (rows: number) => Effect.Effect<void, SqlError>
}>()("murmuration/services/federation/purge/Purges") {
  static readonly layer = Layer.effect(
    Purges,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const agenda = yield* AgendaEntries
      const broadcast = yield* Broadcast
      const longAgo = Effect.map(Clock.currentTimeMillis, (now) => new Date(now - departedMillisMin))

      const begin = traced("Purges.begin")(function*(accountId: AccountId) {
        const now = yield* Clock.currentTimeMillis
        const at = new Date(now)
        const [gone] = yield* uriRows(sql`SELECT a.uri FROM accounts a JOIN remote_actors r ON r.account_id = a.id
          WHERE a.id = ${accountId} FOR UPDATE`)
        if (gone === undefined) return
        yield* sql`INSERT INTO departed_actors (uri, public_pems, departed_at)
          SELECT ${gone.uri}, ARRAY(SELECT public_pem FROM remote_keys WHERE account_id = ${accountId}), ${at}
          ON CONFLICT (uri) DO UPDATE SET departed_at = excluded.departed_at,
            public_pems = departed_actors.public_pems || excluded.public_pems`
        yield* sql`DELETE FROM remote_keys WHERE account_id = ${accountId}`
        yield* sql`DELETE FROM remote_actors WHERE account_id = ${accountId}`
        yield* sql`UPDATE accounts SET suspended_at = coalesce(suspended_at, ${at}), uri = 'gone:' || id,
          username = id::text, domain = 'handle.invalid', display_name = '', note_html = '', fields = '[]',
          avatar_remote_url = NULL, header_remote_url = NULL, moved_to_id = NULL WHERE id = ${accountId}`
        yield* agenda.enqueue("purge", accountId, accountId, now)
        yield* sql.afterCommit(broadcast.publish({ _tag: "Changed", kind: "account", ids: [accountId] }))
      })

      const retire = traced("Purges.retire")(function*(accountId: AccountId) {
        const now = yield* Clock.currentTimeMillis
        const at = new Date(now)
        const retired = yield* sql`INSERT INTO retired_usernames (username, retired_at)
          SELECT lower(username), ${at} FROM accounts WHERE id = ${accountId} AND domain IS NULL
          ON CONFLICT DO NOTHING RETURNING username`
        if (retired.length === 0) return false
        // With it go its sessions, tokens and grants.
        yield* sql`DELETE FROM users WHERE account_id = ${accountId}`
        yield* sql`UPDATE accounts SET suspended_at = coalesce(suspended_at, ${at}), display_name = '', note = '',
          note_html = '', fields = '[]', also_known_as = '{}', attribution_domains = '{}', moved_to_id = NULL,
          avatar_name = NULL, avatar_static_name = NULL, avatar_hash = NULL, header_name = NULL, header_static_name = NULL,
          avatar_description = '', header_description = '' WHERE id = ${accountId}`
        yield* sql`UPDATE stored_files SET account_id = NULL WHERE account_id = ${accountId}`
        yield* sql`DELETE FROM moves WHERE account_id = ${accountId}`
        yield* sql`DELETE FROM agenda WHERE account_id = ${accountId}`
        yield* agenda.enqueue("purge", accountId, accountId, now)
        yield* sql.afterCommit(
          Effect.andThen(
            broadcast.publish({ _tag: "Revoked", tokenIds: [], accountIds: [accountId] }),
            broadcast.publish({ _tag: "Changed", kind: "account", ids: [accountId] })
          )
        )
        return true
      })

      /** Whether a local account has still something to tell. */
      const tells = (accountId: AccountId) =>
        Effect.map(
          sql`SELECT FROM fanouts f JOIN accounts a ON a.id = f.account_id AND a.domain IS NULL
            WHERE f.account_id = ${accountId} LIMIT 1`,
          (rows) => rows.length > 0
        )

      /** Rows that had to stay are hidden; a remote account's row goes with the last of them. */
      const end = Effect.fnUntraced(function*(accountId: AccountId) {
        const now = yield* Clock.currentTimeMillis
        yield* sql`${update(sql, { deletedAt: new Date(now) })} WHERE account_id = ${accountId} AND deleted_at IS NULL`
        const gone = yield* sql`WITH over AS (SELECT a.id, a.domain FROM accounts a WHERE a.id = ${accountId}
          AND NOT EXISTS (SELECT FROM statuses s WHERE s.account_id = a.id)
          AND NOT EXISTS (SELECT FROM reports t WHERE t.target_account_id = a.id AND t.action_taken_at IS NULL)),
          gone AS (DELETE FROM accounts WHERE id IN (SELECT id FROM over WHERE domain IS NOT NULL
            AND NOT EXISTS (SELECT FROM remote_actors r WHERE r.account_id = over.id)))
          SELECT id FROM over`
        if (gone.length === 0) return yield* agenda.enqueue("purge", accountId, accountId, now + reportedMillis)
        yield* sql`DELETE FROM agenda WHERE account_id = ${accountId}`
      })

      const advance = traced("Purges.advance")(function*(accountId: AccountId) {
        const now = yield* Clock.currentTimeMillis
        const more = agenda.enqueue("purge", accountId, accountId, now)
        if (yield* tells(accountId)) return yield* agenda.enqueue("purge", accountId, accountId, now + farewellMillis)
        const left = yield* PurgedRows.removeSome(sql, accountId)
        if (left !== undefined) {
          yield* sql.afterCommit(Effect.andThen(
            broadcast.publish({ _tag: "Changed", kind: "account", ids: left.accountIds }),
            broadcast.publish({ _tag: "Changed", kind: "status", ids: left.statusIds })
          ))
          return yield* more
        }
        const changed = yield* PurgedPosts.removeSome(sql, accountId)
        if (changed.length === 0) return yield* end(accountId)
        yield* sql.afterCommit(broadcast.publish({ _tag: "Changed", kind: "status", ids: changed }))
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
            AND departed_at > ${yield* longAgo} AND public_pems && ${publicPems}::text[]`
          return rows.length > 0
        }),
        sweep: traced("Purges.sweep")(function*(rows) {
          yield* sql`DELETE FROM departed_actors WHERE uri IN (
            SELECT uri FROM departed_actors WHERE departed_at < ${yield* longAgo} LIMIT ${rows})`
        })
      })
    })
  )
}
