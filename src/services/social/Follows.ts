import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import * as Counters from "../database/Counters.ts"
import { accountIdRows, rowsOf } from "../database/Rows.ts"
import * as RowChanges from "../events/RowChanges.ts"
import { traced } from "../runtime/Traced.ts"
import { mutes } from "../visibility/HiddenAccounts.ts"

/** Options of a follow; `languages` is null for all, and an empty list means the same. */
const FollowOptions = Schema.Struct({
  showReblogs: Schema.Boolean,
  notify: Schema.Boolean,
  languages: Schema.NullOr(Schema.Array(Schema.String))
})
type FollowOptions = typeof FollowOptions.Type
const acceptedRows = rowsOf(Schema.Struct({ ...FollowOptions.fields, uri: Schema.NullOr(Schema.String) }))

/** Maximum follows of an account, until its followers allow more (limits-and-rates.md section 1). */
export const followsMax = 7_500

/** Returns the stored language filter; an empty filter means no filter. */
const chosen = (languages: FollowOptions["languages"]) => languages?.length === 0 ? null : languages

type Pair = readonly [follower: bigint, followed: bigint]

const countRows = rowsOf(Schema.Struct({ following: Schema.Int, followers: Schema.Int }))

/** Follows and requests, written in the transaction of one of the two accounts. Booleans are true if a row changed. */
export class Follows extends Context.Service<Follows, {
  /** Adds a follow; returns false and changes nothing if there is one. */
  readonly follow: (pair: Pair, options: FollowOptions) => Effect.Effect<boolean, SqlError>
  readonly request: (pair: Pair, options: FollowOptions) => Effect.Effect<boolean, SqlError>
  /** Changes the options of an existing follow or request; null options are kept, empty languages reset the filter. */
  readonly change: (
    pair: Pair,
    options: { readonly [Option in keyof FollowOptions]: FollowOptions[Option] | null }
  ) => Effect.Effect<boolean, SqlError>
  /** Removes a follow; also removes the followed account from the follower's lists, as `withdraw` does. */
  readonly unfollow: (pair: Pair) => Effect.Effect<boolean, SqlError>
  /** Turns a request into a follow; false without a request. */
  readonly accept: (pair: Pair) => Effect.Effect<boolean, SqlError>
  readonly withdraw: (pair: Pair) => Effect.Effect<boolean, SqlError>
  /** Returns accounts whose requests are accepted when `account` unlocks: not muted by it, limited or suspended. */
  readonly acceptableOnUnlock: (account: bigint) => Effect.Effect<ReadonlyArray<bigint>, SqlError>
  readonly count: (
    account: bigint
  ) => Effect.Effect<{ readonly following: number; readonly followers: number }, SqlError>
}>()("murmuration/services/social/Follows") {
  static readonly layer = Layer.effect(
    Follows,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const tracked = yield* RowChanges.make
      const now = Clock.currentTimeMillis
      const changed = (rows: ReadonlyArray<unknown>) => rows.length > 0

      const insert = Effect.fnUntraced(function*(table: string, [follower, followed]: Pair, options: FollowOptions) {
        const millis = yield* now
        return changed(
          yield* tracked("relations", [follower, followed])(
            tracked("account", [follower, followed])(
              sql`INSERT INTO ${
                sql(table)
              } (id, account_id, target_account_id, show_reblogs, notify, languages, created_at)
            VALUES (next_id(${millis}), ${follower}, ${followed}, ${options.showReblogs}, ${options.notify},
              ${chosen(options.languages)}::text[], ${new Date(millis)})
            ON CONFLICT (account_id, target_account_id) DO NOTHING RETURNING id`
            )
          )
        )
      })
      const remove = (table: string, [follower, followed]: Pair) =>
        Effect.map(
          tracked("relations", [follower, followed])(
            tracked("account", [follower, followed])(
              sql`DELETE FROM ${
                sql(table)
              } WHERE account_id = ${follower} AND target_account_id = ${followed} RETURNING id`
            )
          ),
          changed
        )
      /** Removes an unfollowed account from the lists and the featured accounts of its former follower. */
      const unlist = ([owner, member]: Pair) =>
        tracked("relations", [owner, member])(sql`WITH unfeatured AS (
            DELETE FROM endorsements WHERE account_id = ${owner} AND target_account_id = ${member})
          DELETE FROM list_accounts m USING lists l
          WHERE l.account_id = ${owner} AND m.list_id = l.id AND m.account_id = ${member}`)
      const counted = ([follower, followed]: Pair, by: 1 | -1) =>
        Counters.count({ sql, tracked }, [{ accountId: follower, following: by }, {
          accountId: followed,
          followers: by
        }])

      const follow = traced("Follows.follow")(function*(pair: Pair, options: FollowOptions) {
        const added = yield* insert("follows", pair, options)
        if (added) yield* counted(pair, 1)
        return added
      })
      return Follows.of({
        follow,
        request: traced("Follows.request")((pair, options) => insert("follow_requests", pair, options)),
        change: traced("Follows.change")(function*([follower, followed], { languages, notify, showReblogs }) {
          const update = (table: string) =>
            tracked("relations", [follower, followed])(
              sql`UPDATE ${sql(table)} SET show_reblogs = coalesce(${showReblogs}, show_reblogs),
              notify = coalesce(${notify}, notify),
              languages = ${languages === null ? sql`languages` : sql`${chosen(languages)}::text[]`}
              WHERE account_id = ${follower} AND target_account_id = ${followed} RETURNING id`
            )
          return changed(yield* update("follows")) || changed(yield* update("follow_requests"))
        }),
        unfollow: traced("Follows.unfollow")(function*(pair) {
          const removed = yield* remove("follows", pair)
          if (removed) yield* counted(pair, -1)
          yield* unlist(pair)
          return removed
        }),
        accept: traced("Follows.accept")(function*(pair) {
          const [follower, followed] = pair
          const [request] = yield* acceptedRows(
            tracked("relations", pair)(
              tracked("account", pair)(sql`
            DELETE FROM follow_requests WHERE account_id = ${follower} AND target_account_id = ${followed}
            RETURNING show_reblogs, notify, languages, uri`)
            )
          )
          if (request === undefined) return false
          yield* follow(pair, request)
          // Keeps the id by which other servers know it.
          if (request.uri !== null) {
            yield* tracked("relations", pair)(sql`UPDATE follows SET uri = ${request.uri}
              WHERE account_id = ${follower} AND target_account_id = ${followed}`)
          }
          return true
        }),
        withdraw: traced("Follows.withdraw")(function*(pair) {
          const removed = yield* remove("follow_requests", pair)
          if (removed) yield* unlist(pair)
          return removed
        }),
        acceptableOnUnlock: traced("Follows.acceptableOnUnlock")(function*(account) {
          const at = new Date(yield* now)
          const rows = yield* accountIdRows(sql`
            SELECT r.account_id FROM follow_requests r JOIN accounts a ON a.id = r.account_id
            WHERE r.target_account_id = ${account} AND a.silenced_at IS NULL AND a.suspended_at IS NULL 
              AND NOT ${mutes(sql, sql`${account}::bigint`, sql`r.account_id`, at)}
            ORDER BY r.id LIMIT ${followsMax}`)
          return rows.map(({ accountId }) => accountId)
        }),
        count: traced("Follows.count")(function*(account) {
          const [row] = yield* countRows(sql`
            SELECT following_count AS following, followers_count AS followers FROM account_stats WHERE account_id = ${account}`)
          return row ?? { following: 0, followers: 0 }
        })
      })
    })
  )
}
