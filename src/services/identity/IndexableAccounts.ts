import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { rowsMax } from "../database/Paging.ts"
import { rowsOf, Timestamptz } from "../database/Rows.ts"
import { traced } from "../runtime/Traced.ts"
import { presentAccount } from "../visibility/PresentAccounts.ts"

const accountRows = rowsOf(
  Schema.Struct({ id: Schema.BigInt, username: Schema.String, lastStatusAt: Schema.NullOr(Timestamptz) })
)
const idRows = rowsOf(Schema.Struct({ id: Schema.BigInt }))

/** Maximum parts of the sitemap (sitemaps.org allows 50,000). */
const partsMax = 10_000

/** Local accounts that want to be found by search engines: discoverable, indexable and without `noindex`. */
export class IndexableAccounts extends Context.Service<IndexableAccounts, {
  /** Returns the id before the first account of each part of `rows` accounts. */
  readonly parts: (rows: number) => Effect.Effect<ReadonlyArray<bigint>>
  /** Returns up to `rows` accounts with ids above `after`, in the order of ids. */
  readonly page: (after: bigint, rows: number) => Effect.Effect<
    ReadonlyArray<{ readonly username: string; readonly lastStatusAt: Date | null }>
  >
}>()("murmuration/services/identity/IndexableAccounts") {
  static readonly layer = Layer.effect(
    IndexableAccounts,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const isIndexable = sql`a.domain IS NULL AND a.discoverable AND a.indexable AND a.suspended_at IS NULL
        AND a.silenced_at IS NULL AND a.moved_to_id IS NULL AND NOT a.memorial AND NOT u.noindex AND NOT u.disabled
        AND ${sql.literal(presentAccount("a"))}`
      const parts = traced("IndexableAccounts.parts")(function*(rows: number) {
        const found = yield* idRows(sql`SELECT id - 1 AS id FROM (
            SELECT a.id, row_number() OVER (ORDER BY a.id) AS place
            FROM users u JOIN accounts a ON a.id = u.account_id WHERE ${isIndexable}) numbered
          WHERE (place - 1) % ${rowsMax(sql, rows)} = 0 ORDER BY id LIMIT ${rowsMax(sql, partsMax)}`)
        return found.map(({ id }) => id)
      }, Effect.orDie)
      const page = traced("IndexableAccounts.page")(
        (after: bigint, rows: number) =>
          accountRows(sql`SELECT a.id, a.username, c.last_status_at FROM users u JOIN accounts a ON a.id = u.account_id
            LEFT JOIN account_stats c ON c.account_id = a.id
            WHERE u.account_id > ${after} AND ${isIndexable} ORDER BY u.account_id LIMIT ${rowsMax(sql, rows)}`),
        Effect.orDie
      )
      return IndexableAccounts.of({ parts, page })
    })
  )
}
