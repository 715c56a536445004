import { Context, Effect, Layer, Schema, Struct } from "effect"
import { SqlClient } from "effect/sql"
import { rowsMax } from "../database/Paging.ts"
import { rowsOf } from "../database/Rows.ts"
import { MediaRecord, recordsOf } from "../media/MediaRecord.ts"
import { traced } from "../runtime/Traced.ts"
import { shortened } from "./ShortenedTexts.ts"
import { revised } from "./StatusRows.ts"
import { StoredStatus } from "./StoredStatus.ts"
import { textColumns, writtenFields } from "./Written.ts"

/** A version of a status. */
export const Revision = Schema.Struct({
  ...StoredStatus.mapFields(Struct.pick(["accountId", "local", "uri", "html", ...writtenFields, "createdAt"])).fields,
  /** With the descriptions of that version. */
  media: Schema.Array(MediaRecord),
  /** Poll options; null without a poll. */
  pollOptions: Schema.NullOr(Schema.Array(Schema.String))
})
export type Revision = typeof Revision.Type

/** Maximum versions shown of a status, oldest first, and maximum bytes of all; each file counts for some. */
export const revisionsMax = 500
const revisionsBytesMax = 2_097_152
const revisionBytes = [
  ...["html", ...textColumns].map((name) => `octet_length(${name})`),
  ...["media_descriptions", "poll_options"].map((name) => `octet_length(coalesce(array_to_string(${name}, ''), ''))`),
  "1024 * cardinality(media_ids)"
].join(" + ")

/** Versions of statuses; the caller must check that the viewer may see the status. */
export class History extends Context.Service<History, {
  /** Returns the versions, oldest first; a single one if the status was never edited (S-144). */
  readonly of: (statusId: bigint) => Effect.Effect<ReadonlyArray<Revision>>
}>()("murmuration/services/statuses/History") {
  static readonly layer = Layer.effect(
    History,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const of = traced("History.of")(function*(statusId: bigint) {
        // The first edit also stores the original, so unedited statuses have no rows.
        const rows = yield* revisionRows(sql`
          SELECT s.account_id, s.local, s.uri, e.created_at, ${revised.list(sql, "e")},
            ${recordsOf(sql, "e.media_ids")} AS media, e.media_descriptions, e.poll_options FROM statuses s
          CROSS JOIN LATERAL (
            (SELECT id, created_at, ${revised.list(sql)}, media_descriptions, poll_options FROM (
                SELECT *, sum(${sql.literal(revisionBytes)}) OVER (ORDER BY id) AS bytes FROM status_edits
                WHERE status_id = s.id ORDER BY id LIMIT ${rowsMax(sql, revisionsMax)}) r
              WHERE bytes <= ${revisionsBytesMax})
            UNION ALL
            SELECT s.id, s.created_at, ${revised.list(sql, "s")}, NULL,
              (SELECT options FROM polls WHERE status_id = s.id) WHERE s.edited_at IS NULL) e
          WHERE s.id = ${statusId} ORDER BY e.id`)
        return rows.map((row) => bounded(asThen(row)))
      }, Effect.orDie)
      return History.of({ of })
    })
  )
}

const Row = Schema.Struct({
  ...Revision.fields,
  mediaIds: Schema.Array(Schema.BigInt),
  /** By place in `mediaIds`. */
  mediaDescriptions: Schema.NullOr(Schema.Array(Schema.String))
})
type Row = typeof Row.Type
const revisionRows = rowsOf(Row)

/** Shortens a revision's texts to `statusBytesMax`. */
const bounded = (revision: Revision): Revision => {
  const cut = shortened({ ...revision, tags: [] }, revision.pollOptions ?? [])
  if (cut === undefined) return revision
  const { options, tags: _none, ...texts } = cut
  return { ...revision, ...texts, pollOptions: revision.pollOptions && options }
}

/** Returns the revision's files with its own descriptions; some of its files may be gone. */
const asThen = ({ mediaDescriptions, mediaIds, ...revision }: Row): Revision => {
  if (mediaDescriptions === null) return revision
  const places = new Map(mediaIds.map((id, at) => [String(id), at]))
  const media = revision.media.map((one) =>
    Object.assign(one, { description: mediaDescriptions[places.get(one.id) ?? -1] || null })
  )
  return { ...revision, media }
}
