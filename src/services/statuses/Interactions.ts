import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { AccountId } from "../database/Ids.ts"
import { clauses, newestFirst, type Page } from "../database/Paging.ts"
import { rowsOf } from "../database/Rows.ts"
import { traced } from "../runtime/Traced.ts"
import { isHidden } from "../visibility/HiddenAccounts.ts"
import { isSuspended } from "../visibility/SuspendedAccounts.ts"
import type { Viewer } from "../visibility/Viewer.ts"
import * as MarkedStatuses from "./MarkedStatuses.ts"
import { isPublicOrUnlistedRow, visibleTo } from "./Visibility.ts"

/**
 * Maximum requests, replies and quotes that one slice of a block ends, each. A slice is part of a command, which has
 * seconds.
 */
export const separatedMax = 200

/** Row of a list of accounts; `cursor` is the id of the relation, by which the list is paged. */
export const Listed = Schema.Struct({ cursor: Schema.BigInt, accountId: Schema.BigInt })
export type Listed = typeof Listed.Type
const listedRows = rowsOf(Listed)

/** Accounts that favourited or boosted a status, and statuses that an account favourited. */
export class Interactions extends Context.Service<Interactions, {
  /** Returns accounts except those that the viewer hides; the caller must check that the viewer may see the status. */
  readonly favouritedBy: (viewer: Viewer, statusId: bigint, page: Page) => Effect.Effect<ReadonlyArray<Listed>>
  readonly rebloggedBy: (viewer: Viewer, statusId: bigint, page: Page) => Effect.Effect<ReadonlyArray<Listed>>
  /** Returns favourites of statuses that the account may still see. */
  readonly favouritesOf: (account: AccountId, page: Page) => Effect.Effect<ReadonlyArray<MarkedStatuses.MarkedStatus>>
}>()("murmuration/services/statuses/Interactions") {
  static readonly layer = Layer.effect(
    Interactions,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient

      const people = Effect.fnUntraced(function*(
        viewer: Viewer,
        table: "favourites" | "statuses",
        column: "status_id" | "reblog_of_id",
        statusId: bigint,
        page: Page
      ) {
        if (page.limit === 0) return []
        const now = new Date(yield* Clock.currentTimeMillis)
        const { tail, where } = clauses(sql, "r.id", page)
        // Boosts with a limited audience are not listed, as in Mastodon; the counter includes them.
        const seen = table === "statuses"
          ? sql`${isPublicOrUnlistedRow(sql, "r")} AND ${visibleTo(sql, viewer, "r")}`
          : sql`TRUE`
        const welcome = viewer === undefined
          ? sql`TRUE`
          : sql`NOT ${isHidden(sql, sql`${viewer}::bigint`, sql`r.account_id`, now)}`
        const rows = yield* listedRows(sql`SELECT r.id AS cursor, r.account_id FROM ${sql.literal(table)} r
          WHERE r.${sql.literal(column)} = ${statusId} AND ${where} AND ${seen} AND ${welcome}
            AND NOT ${isSuspended(sql, sql`r.account_id`)}
          ${tail}`)
        return newestFirst(page, rows)
      }, Effect.orDie)

      return Interactions.of({
        favouritedBy: traced("Interactions.favouritedBy")((viewer, statusId, page) =>
          people(viewer, "favourites", "status_id", statusId, page)
        ),
        rebloggedBy: traced("Interactions.rebloggedBy")((viewer, statusId, page) =>
          people(viewer, "statuses", "reblog_of_id", statusId, page)
        ),
        favouritesOf: traced("Interactions.favouritesOf")(MarkedStatuses.make(sql, "favourites"))
      })
    })
  )
}
