import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { AccountId } from "../database/Ids.ts"
import { clauses, newestFirst, type Page, rowsMax } from "../database/Paging.ts"
import { rowsOf } from "../database/Rows.ts"
import type { FoundAccount } from "../identity/Accounts.ts"
import { traced } from "../runtime/Traced.ts"
import type { Listed } from "../statuses/Interactions.ts"
import { blocks, isHidden } from "../visibility/HiddenAccounts.ts"
import { isSuspended } from "../visibility/SuspendedAccounts.ts"
import type { Viewer } from "../visibility/Viewer.ts"

/** Maximum familiar followers of an account; Mastodon shows a handful on a profile. */
const familiarFollowersMax = 40

const familiarRows = rowsOf(Schema.Struct({ id: Schema.BigInt, accountIds: Schema.Array(Schema.BigInt) }))

const listedRows = rowsOf(Schema.Struct({ cursor: Schema.BigInt, accountId: Schema.BigInt }))

/** Lists of followers, followed accounts, follow requests and featured accounts; without suspended accounts. */
export class FollowLists extends Context.Service<FollowLists, {
  /**
   * Returns followers; empty if the account is suspended, hides its lists from others, or blocks the viewer (row 60).
   */
  readonly followers: (viewer: Viewer, of: FoundAccount, page: Page) => Effect.Effect<ReadonlyArray<Listed>>
  readonly following: (viewer: Viewer, of: FoundAccount, page: Page) => Effect.Effect<ReadonlyArray<Listed>>
  /** Returns accounts that request to follow the account. */
  readonly requests: (account: AccountId, page: Page) => Effect.Effect<ReadonlyArray<Listed>>
  readonly endorsed: (viewer: Viewer, of: FoundAccount, page: Page) => Effect.Effect<ReadonlyArray<Listed>>
  /** Returns for each account its followers that the viewer follows, newest first; none if it hides its followers. */
  readonly familiar: (
    viewer: AccountId,
    ids: ReadonlyArray<bigint>
  ) => Effect.Effect<ReadonlyArray<{ readonly id: bigint; readonly accountIds: ReadonlyArray<bigint> }>>
}>()("murmuration/services/social/FollowLists") {
  static readonly layer = Layer.effect(
    FollowLists,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient

      /**
       * Returns a page of a relation table: rows whose `own` column is the account, with the accounts of the other
       * column.
       */
      const list = Effect.fnUntraced(function*(
        table: "follows" | "endorsements" | "follow_requests",
        own: "account_id" | "target_account_id",
        account: bigint,
        viewer: Viewer,
        page: Page
      ) {
        if (page.limit === 0) return []
        const now = new Date(yield* Clock.currentTimeMillis)
        const other = sql.literal(own === "account_id" ? "r.target_account_id" : "r.account_id")
        const { tail, where } = clauses(sql, "r.id", page)
        const rows = yield* listedRows(sql`
          SELECT r.id AS cursor, ${other} AS account_id FROM ${sql.literal(table)} r
          WHERE r.${sql.literal(own)} = ${account} AND ${where}
            AND NOT ${isSuspended(sql, other)}
            ${
          viewer === undefined ? sql`` : sql`AND NOT ${isHidden(sql, sql`${viewer}::bigint`, other, now)}`
        } ${tail}`)
        return newestFirst(page, rows)
      }, Effect.orDie)

      const isBlockedBy = (account: bigint, viewer: Viewer) =>
        viewer === undefined ? Effect.succeed(false) : Effect.map(
          sql`SELECT 1 WHERE ${blocks(sql, sql`${account}::bigint`, sql`${viewer}::bigint`)}`,
          (rows) => rows.length > 0
        ).pipe(Effect.orDie)

      const openTo = Effect.fnUntraced(function*(viewer: Viewer, { hideCollections, id, suspended }: FoundAccount) {
        if (viewer === id) return true
        return !suspended && !hideCollections && !(yield* isBlockedBy(id, viewer))
      })

      const of = (table: "follows" | "endorsements", own: "account_id" | "target_account_id") =>
        traced(`FollowLists.${table}.${own}`)(function*(viewer: Viewer, of: FoundAccount, page: Page) {
          return (yield* openTo(viewer, of)) ? yield* list(table, own, of.id, viewer, page) : []
        })

      const familiar = traced("FollowLists.familiar")(function*(viewer: AccountId, ids: ReadonlyArray<bigint>) {
        if (ids.length === 0) return []
        const now = new Date(yield* Clock.currentTimeMillis)
        return yield* familiarRows(sql`
          SELECT a.id, ARRAY(SELECT f.account_id FROM follows mine JOIN follows f
              ON f.account_id = mine.target_account_id AND f.target_account_id = a.id
            WHERE mine.account_id = ${viewer} AND f.account_id <> a.id
              AND (a.hide_collections IS NOT TRUE OR a.id = ${viewer})
              AND NOT EXISTS (SELECT FROM accounts gone WHERE gone.id = f.account_id
                AND (gone.suspended_at IS NOT NULL OR gone.hide_collections) OFFSET 0)
              AND NOT ${isHidden(sql, sql`${viewer}::bigint`, sql`f.account_id`, now)}
            ORDER BY f.id DESC LIMIT ${rowsMax(sql, familiarFollowersMax)}) AS account_ids
          FROM accounts a WHERE a.id = ANY (${ids}::bigint[]) AND a.suspended_at IS NULL
            AND NOT ${blocks(sql, sql`a.id`, sql`${viewer}::bigint`)} ORDER BY a.id`)
      }, Effect.orDie)

      return FollowLists.of({
        followers: of("follows", "target_account_id"),
        following: of("follows", "account_id"),
        endorsed: of("endorsements", "account_id"),
        requests: traced("FollowLists.requests")((account, page) =>
          list("follow_requests", "target_account_id", account, undefined, page)
        ),
        familiar
      })
    })
  )
}
