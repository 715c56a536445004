import { Clock, Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { type OffsetPage, rowsMax } from "../database/Paging.ts"
import { idRows } from "../database/Rows.ts"
import { traced } from "../runtime/Traced.ts"
import type { Viewer } from "../visibility/Viewer.ts"
import { isListed } from "./Candidates.ts"

/** Selects accounts of the directory; `order` is by last post or by newest account. */
interface DirectorySelection extends OffsetPage {
  readonly order: "active" | "new"
  readonly local: boolean
}

/** Directory of discoverable accounts. */
export class Directory extends Context.Service<Directory, {
  /** Returns accounts, except those that the viewer hides, and those that block the viewer. */
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
