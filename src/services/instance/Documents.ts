import { Clock, Effect, Schema } from "effect"
import type { SqlClient } from "effect/sql/SqlClient"
import { rowsOf, Timestamptz } from "../database/Rows.ts"

/** Documents that have versions. */
export type DocumentKind = "privacy_policy" | "terms_of_service"

const Current = Schema.Struct({
  kind: Schema.Literals(["privacy_policy", "terms_of_service"]),
  html: Schema.String,
  effectiveOn: Schema.String,
  publishedAt: Timestamptz,
  succeededBy: Schema.NullOr(Schema.String)
})
const currentRows = rowsOf(Current)

/**
 * A version of a document; `since` is the date from which it applies (`2026-01-31`), `succeededBy` that of the next
 * version.
 */
export interface DocumentVersion {
  readonly html: string
  readonly updatedAt: Date
  readonly since: string
  readonly succeededBy: string | null
}

/**
 * Returns the version of each document that applies today, or else the next one. `day` selects the versions of that
 * date instead.
 */
export const documents = Effect.fnUntraced(function*(sql: SqlClient, day?: string) {
  const today = new Date(yield* Clock.currentTimeMillis).toISOString().slice(0, 10)
  const rows = yield* currentRows(sql`
    SELECT DISTINCT ON (kind) kind, html, effective_on, published_at,
      (SELECT min(n.effective_on) FROM document_versions n
        WHERE n.kind = d.kind AND n.effective_on > d.effective_on) AS succeeded_by
    FROM document_versions d WHERE ${day ?? null}::text IS NULL OR effective_on = ${day ?? null}
    ORDER BY kind, effective_on <= ${today} DESC, CASE WHEN effective_on <= ${today} THEN effective_on END DESC,
      effective_on`)
  return (kind: DocumentKind): DocumentVersion | null => {
    const row = rows.find((one) => one.kind === kind)
    return row === undefined
      ? null
      : { html: row.html, updatedAt: row.publishedAt, since: row.effectiveOn, succeededBy: row.succeededBy }
  }
})
