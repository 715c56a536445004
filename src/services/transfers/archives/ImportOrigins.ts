import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { rowsOf } from "../../database/Rows.ts"
import { traced } from "../../runtime/Traced.ts"

const urlRows = rowsOf(Schema.Struct({ url: Schema.String }))

/** Original pages of imported posts. */
export class ImportOrigins extends Context.Service<ImportOrigins, {
  /** Returns the URL of the page on which a post was first published; undefined if it was not imported. */
  readonly find: (statusId: bigint) => Effect.Effect<string | undefined>
}>()("murmuration/services/transfers/archives/ImportOrigins") {
  static readonly layer = Layer.effect(
    ImportOrigins,
    Effect.map(SqlClient.SqlClient, (sql) =>
      ImportOrigins.of({
        find: traced("ImportOrigins.find")((statusId) =>
          Effect.map(
            urlRows(sql`SELECT url FROM imported_statuses WHERE status_id = ${statusId}`),
            ([row]) => row?.url
          ).pipe(Effect.orDie)
        )
      }))
  )
}
