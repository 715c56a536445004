import { Clock, Context, Effect, Layer, Schema, Struct } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { requireCapacity } from "../database/BoundedTables.ts"
import { rowsOf, Timestamptz } from "../database/Rows.ts"
import { type Unprocessable, validationFailed } from "../runtime/Errors.ts"
import { traced } from "../runtime/Traced.ts"
import { hasMoreCharacters } from "../text/Characters.ts"
import { documentOf, isDay } from "./DocumentHtml.ts"
import type { DocumentKind } from "./Documents.ts"

/** Maximum characters of a notice about a new version, and maximum versions of a document. */
const noticeCharactersMax = 2_000
const versionsMax = 100

/** A document from staff; an empty text deletes all its versions. */
export interface NewDocument {
  readonly text: string
  /** Date from which it applies, such as `2026-01-31`; today by default. */
  readonly since?: string | undefined
  /** Summary of the changes, in plain text. */
  readonly notice?: string | undefined
}

const Version = Schema.Struct({
  html: Schema.String,
  notice: Schema.String,
  effectiveOn: Schema.String,
  publishedAt: Timestamptz
})
/** A stored version of a document. */
type Version = typeof Version.Type
const versionRows = rowsOf(Version)
const dayRows = rowsOf(Version.mapFields(Struct.pick(["effectiveOn"])))

/** Versions of the privacy policy and the terms of service, in the current transaction. */
export class InstanceDocuments extends Context.Service<InstanceDocuments, {
  /** Versions, newest date first. */
  readonly versions: (kind: DocumentKind) => Effect.Effect<ReadonlyArray<Version>, SqlError>
  /** Dates of the versions, newest first. */
  readonly days: (kind: DocumentKind) => Effect.Effect<ReadonlyArray<string>>
  /** Publishes a version, replacing one of the same date. Returns the values for the audit log. */
  readonly publish: (
    kind: DocumentKind,
    document: NewDocument
  ) => Effect.Effect<Pick<Version, "effectiveOn" | "html" | "notice"> | null, SqlError | Unprocessable>
}>()("murmuration/services/instance/InstanceDocuments") {
  static readonly layer = Layer.effect(
    InstanceDocuments,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient

      return InstanceDocuments.of({
        versions: traced("InstanceDocuments.versions")((kind) =>
          versionRows(sql`SELECT html, notice, effective_on, published_at FROM document_versions
            WHERE kind = ${kind} ORDER BY effective_on DESC LIMIT ${versionsMax}`)
        ),
        days: traced("InstanceDocuments.days")(
          (kind) =>
            dayRows(sql`SELECT effective_on FROM document_versions
              WHERE kind = ${kind} ORDER BY effective_on DESC LIMIT ${versionsMax}`).pipe(
              Effect.map((rows) => rows.map(({ effectiveOn }) => effectiveOn))
            ),
          Effect.orDie
        ),
        publish: traced("InstanceDocuments.publish")(function*(kind, { notice = "", since, text }) {
          const html = yield* documentOf(text)
          const trimmedNotice = notice.replaceAll("\0", "").trim()
          if (hasMoreCharacters(trimmedNotice, noticeCharactersMax)) {
            return yield* validationFailed(`Notice is too long (maximum is ${noticeCharactersMax} characters)`)
          }
          const now = yield* Clock.currentTimeMillis
          const effectiveOn = since ?? new Date(now).toISOString().slice(0, 10)
          if (!isDay(effectiveOn)) return yield* validationFailed("Effective date is no day such as 2026-01-31")
          if (html === "") {
            yield* sql`DELETE FROM document_versions WHERE kind = ${kind}`
            return null
          }
          const counted = sql`kind = ${kind} AND effective_on <> ${effectiveOn}`
          yield* requireCapacity(sql, { table: "document_versions", name: "Versions", max: versionsMax, counted })
          yield* sql`INSERT INTO document_versions (id, kind, html, notice, effective_on, published_at)
            VALUES (next_id(${now}), ${kind}, ${html}, ${trimmedNotice}, ${effectiveOn}, ${new Date(now)})
            ON CONFLICT (kind, effective_on) DO UPDATE SET html = excluded.html, notice = excluded.notice,
              published_at = excluded.published_at`
          return { effectiveOn, html, notice: trimmedNotice }
        })
      })
    })
  )
}
