import { Clock, Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { rowsMax, type Stretch } from "../Paging.ts"
import { idRows } from "../Rows.ts"
import { traced } from "../Traced.ts"
import type { Viewer } from "../Viewer.ts"
import { isListed } from "./Candidates.ts"

/** What of the directory is wanted: who posted last, or who came last, comes first. */
interface DirectorySelection extends Stretch {
  readonly order: "active" | "new"
  readonly local: boolean
}

/** Accounts that want to be found. */
export class Directory extends Context.Service<Directory, {
  /** Without those that the viewer hides, and with a viewer those that block it. */
  readonly page: (viewer: Viewer, selection: DirectorySelection) => Effect.Effect<ReadonlyArray<bigint>>
}>()("murmuration/services/suggestions/Directory") {
  static readonly layer = Layer.effect(
    Directory,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      return Directory.of({
        page: traced("Directory.page")(function*(viewer: Viewer, { limit, local, offset, order }: DirectorySelection) {
          if (limit === 0) return []
          const now = new Date(yield* Clock.currentTimeMillis)
          const sorted = sql.literal(order === "new" ? "a.id DESC" : "n.last_status_at DESC NULLS LAST, a.id DESC")
          const rows = yield* idRows(sql`SELECT a.id FROM accounts a LEFT JOIN account_stats n ON n.account_id = a.id
            WHERE ${isListed(sql, viewer, now)} AND ${local ? sql`a.domain IS NULL` : sql`TRUE`}
            ORDER BY ${sorted} LIMIT ${rowsMax(sql, limit)} OFFSET ${offset}`)
          return rows.map(({ id }) => id)
        }, Effect.orDie)
      })
    })
  )
}
