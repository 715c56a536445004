import { Context, Effect, Layer, Option, Schema, Stream } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import type { Fragment } from "effect/sql/Statement"
import type { AccountId } from "../database/Ids.ts"
import { clauses, newestFirst, type Page, rowsMax } from "../database/Paging.ts"
import { rowsOf, singleRow, Timestamptz } from "../database/Rows.ts"
import { ServerConfig } from "../instance/ServerConfig.ts"
import { traced } from "../runtime/Traced.ts"
import { csvLine } from "../text/Csv.ts"
import { isSuspended } from "../visibility/SuspendedAccounts.ts"

/** Maximum followers that are recorded for one move, oldest first, and maximum of one slice. */
export const recordedFollowersMax = 100_000
export const recordingRowsMax = 5_000
/** Rows of one read of a file. */
const fileRows = 1_000
/** Maximum moves to an account that are shown, newest first. */
const arrivalsMax = 10

const MoveOverview = Schema.Struct({
  accountId: Schema.BigInt,
  /** True for the account's own move, false for one to the account. */
  own: Schema.Boolean,
  targetUri: Schema.String,
  movedToId: Schema.NullOr(Schema.BigInt),
  movedAt: Timestamptz,
  /** Local name, or `name@domain`, of the other account; null if it is unknown. */
  other: Schema.NullOr(Schema.String),
  /** Null if the followers are not recorded: not yet, or by an older version. */
  came: Schema.NullOr(Schema.Int),
  stayed: Schema.NullOr(Schema.Int),
  /** True if there were more followers than are recorded. */
  cut: Schema.Boolean
})
export type MoveOverview = typeof MoveOverview.Type
const overviewRows = rowsOf(MoveOverview)

const MoveFollower = Schema.Struct({
  cursor: Schema.BigInt,
  accountId: Schema.BigInt,
  /** Local name, or `name@domain`. */
  acct: Schema.String,
  displayName: Schema.String
})
type MoveFollower = typeof MoveFollower.Type
const followerRows = rowsOf(MoveFollower)
const sliceRows = rowsOf(Schema.Struct({ last: Schema.NullOr(Schema.BigInt), rows: Schema.Int, recorded: Schema.Int }))

/** A list of followers of one move: those that came, or those that stayed. */
export interface FollowerSelection {
  /** Account that moved. */
  readonly from: bigint
  readonly came: boolean
}

/**
 * Followers that an account had when it moved. A follower came if it follows the new account. If neither the follower
 * nor the new account is local, that is unknown here; then a follower came if it no longer follows the old account.
 */
export class MoveFollowers extends Context.Service<MoveFollowers, {
  /** Deletes a slice of the rows of an earlier move, in the current transaction; true if there may be more. */
  readonly forget: (accountId: AccountId) => Effect.Effect<boolean, SqlError>
  /**
   * Records the next slice of followers above the cursor, in the current transaction; undefined after the last one.
   * A move between two remote accounts records none.
   */
  readonly record: (
    accountId: AccountId,
    target: bigint,
    cursor: bigint
  ) => Effect.Effect<bigint | undefined, SqlError>
  /** Returns the account's own last move, if any, then the last moves to it. */
  readonly overview: (accountId: AccountId) => Effect.Effect<ReadonlyArray<MoveOverview>>
  /**
   * Returns a page of followers, latest account ids first. The viewer is the account that moved, or the account to which
   * it moved: to that one, only followers that came are shown.
   */
  readonly page: (
    viewer: AccountId,
    selection: FollowerSelection,
    page: Page
  ) => Effect.Effect<ReadonlyArray<MoveFollower>>
  /** Returns the list that `page` pages as a CSV file with a header, in the form of Mastodon's lists of followers. */
  readonly csv: (viewer: AccountId, selection: FollowerSelection) => Stream.Stream<string>
}>()("murmuration/services/social/MoveFollowers") {
  static readonly layer = Layer.effect(
    MoveFollowers,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { localDomain } = yield* ServerConfig

      /** Condition: the follower `f` (an account) of `o`, which moved to `t` (null if unknown), came. */
      const came: Fragment = sql`CASE WHEN f.domain IS NULL OR (t.id IS NOT NULL AND t.domain IS NULL)
        THEN EXISTS (SELECT FROM follows w WHERE w.account_id = f.id AND w.target_account_id = t.id)
        ELSE NOT EXISTS (SELECT FROM follows w WHERE w.account_id = f.id AND w.target_account_id = o.id) END`
      const shown: Fragment = sql`move_followers m JOIN accounts f ON f.id = m.follower_id
        AND NOT ${isSuspended(sql, sql`f.id`)}`
      const acct = (alias: string) => {
        const account = sql.literal(alias)
        return sql`${account}.username || coalesce('@' || ${account}.domain, '')`
      }

      const page = traced("MoveFollowers.page")(function*(viewer: AccountId, selection: FollowerSelection, page: Page) {
        if (page.limit === 0) return []
        const { tail, where } = clauses(sql, "m.follower_id", page)
        return newestFirst(
          page,
          yield* followerRows(sql`
            SELECT m.follower_id AS cursor, f.id AS account_id, ${acct("f")} AS acct, f.display_name
            FROM accounts o LEFT JOIN accounts t ON t.id = o.moved_to_id
              JOIN ${shown} ON m.account_id = o.id
            WHERE o.id = ${selection.from} AND (o.id = ${viewer} OR o.moved_to_id = ${viewer} AND ${selection.came})
              AND (${came}) = ${selection.came} AND ${where} ${tail}`)
        )
      }, Effect.orDie)

      return MoveFollowers.of({
        forget: traced("MoveFollowers.forget")(function*(accountId) {
          const rows = yield* sql`DELETE FROM move_followers WHERE ctid = ANY (ARRAY(SELECT ctid FROM move_followers
            WHERE account_id = ${accountId} LIMIT ${rowsMax(sql, recordingRowsMax)})) RETURNING 1`
          return rows.length === recordingRowsMax
        }),
        record: traced("MoveFollowers.record")(function*(accountId, target, cursor) {
          const { last, recorded, rows } = singleRow(
            yield* sliceRows(sql`
            WITH batch AS MATERIALIZED (SELECT w.id, w.account_id FROM follows w
              WHERE w.target_account_id = ${accountId} AND w.id > ${cursor}
                AND EXISTS (SELECT FROM accounts s WHERE s.id IN (${accountId}, ${target}) AND s.domain IS NULL)
              ORDER BY w.id LIMIT ${rowsMax(sql, recordingRowsMax)}),
            fresh AS (INSERT INTO move_followers (account_id, follower_id)
              SELECT ${accountId}::bigint, account_id FROM batch WHERE account_id <> ${target}
              ON CONFLICT DO NOTHING RETURNING 1)
            SELECT (SELECT max(id) FROM batch) AS last, (SELECT count(*)::int FROM batch) AS rows,
              (SELECT count(*)::int FROM fresh)
                + (SELECT count(*)::int FROM move_followers WHERE account_id = ${accountId}) AS recorded`)
          )
          if (last !== null && rows === recordingRowsMax && recorded < recordedFollowersMax) return last
          yield* sql`UPDATE moves SET recorded_followers = ${recorded} WHERE account_id = ${accountId}`
          return undefined
        }),
        overview: traced("MoveFollowers.overview")(function*(accountId) {
          return yield* overviewRows(sql`
            SELECT o.id AS account_id, o.id = ${accountId} AS own, m.target_uri, o.moved_to_id, m.moved_at,
              CASE WHEN o.id = ${accountId} THEN ${acct("t")} ELSE ${acct("o")} END AS other,
              CASE WHEN m.recorded_followers IS NOT NULL THEN c.came END AS came,
              CASE WHEN m.recorded_followers IS NOT NULL THEN c.stayed END AS stayed,
              coalesce(m.recorded_followers >= ${sql.literal(String(recordedFollowersMax))}, false) AS cut
            FROM (SELECT ${accountId}::bigint AS id
                UNION SELECT id FROM accounts WHERE moved_to_id = ${accountId}) mine
              JOIN moves m ON m.account_id = mine.id AND m.moved_at IS NOT NULL
              JOIN accounts o ON o.id = m.account_id LEFT JOIN accounts t ON t.id = o.moved_to_id
              CROSS JOIN LATERAL (SELECT count(*) FILTER (WHERE one.came)::int AS came,
                  count(*) FILTER (WHERE NOT one.came)::int AS stayed
                FROM (SELECT ${came} AS came FROM ${shown} WHERE m.account_id = o.id) one) c
            ORDER BY own DESC, m.moved_at DESC, o.id DESC LIMIT ${rowsMax(sql, arrivalsMax + 1)}`)
        }, Effect.orDie),
        page,
        csv: (viewer, selection) =>
          Stream.concat(
            Stream.succeed(csvLine(["Account address"])),
            Stream.paginate(undefined, (maxId: bigint | undefined) =>
              Effect.map(
                page(viewer, selection, { maxId, limit: fileRows }),
                (rows) =>
                  [
                    [rows.map(({ acct }) => csvLine([acct.includes("@") ? acct : `${acct}@${localDomain}`])).join("")],
                    rows.length < fileRows ? Option.none() : Option.fromUndefinedOr(rows.at(-1)?.cursor)
                  ] as const
              ))
          )
      })
    })
  )
}
