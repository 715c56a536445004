import { Context, Effect, Layer, Schema, Struct } from "effect"
import { SqlClient } from "effect/sql"
import { MediaRecord, recordsOf } from "../media/MediaRecord.ts"
import { rowsMax } from "../Paging.ts"
import { rowsOf } from "../Rows.ts"
import { traced } from "../Traced.ts"
import { revised } from "./StatusRows.ts"
import { shortened } from "./StatusTexts.ts"
import { StoredStatus } from "./StoredStatus.ts"
import { textColumns, writtenFields } from "./Written.ts"

/** A version of a status. */
export const Revision = Schema.Struct({
  ...StoredStatus.mapFields(Struct.pick(["accountId", "local", "uri", "html", ...writtenFields, "createdAt"])).fields,
  /** As it was then: with the descriptions of its time. */
  media: Schema.Array(MediaRecord),
  /** Options of its poll; null where it had none. */
  pollOptions: Schema.NullOr(Schema.Array(Schema.String))
})
export type Revision = typeof Revision.Type

/** Versions of one status that are shown, the oldest, and bytes that they have together; a file counts as some. */
export const revisionsMax = 500
const revisionsBytesMax = 2_097_152
const revisionBytes = [
  ...["html", ...textColumns].map((name) => `octet_length(${name})`),
  ...["media_descriptions", "poll_options"].map((name) => `octet_length(coalesce(array_to_string(${name}, ''), ''))`),
  "1024 * cardinality(media_ids)"
].join(" + ")

/** The versions of statuses, to be asked for by whom may see the status. */
export class History extends Context.Service<History, {
  /** Oldest first; one where the status was never edited (S-144). */
  readonly of: (statusId: bigint) => Effect.Effect<ReadonlyArray<Revision>>
}>()("murmuration/services/statuses/History") {
  static readonly layer = Layer.effect(
    History,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const of = traced("History.of")(function*(statusId: bigint) {
        // The first edit stores the original as well, so an unedited status is the one without rows.
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

const Row = Schema.Struct({ ...Revision.fields, mediaDescriptions: Schema.NullOr(Schema.Array(Schema.String)) })
type Row = typeof Row.Type
const revisionRows = rowsOf(Row)

/** A revision with texts of `statusBytesMax` at most. */
const bounded = (revision: Revision): Revision => {
  const cut = shortened({ ...revision, tags: [] }, revision.pollOptions ?? [])
  if (cut === undefined) return revision
  const { options, tags: _none, ...texts } = cut
  return { ...revision, ...texts, pollOptions: revision.pollOptions && options }
}

/** The files with what was said of them when the revision was made. */
const asThen = ({ mediaDescriptions, ...revision }: Row): Revision => {
  if (mediaDescriptions === null) return revision
  const media = revision.media.map((one, at) => Object.assign(one, { description: mediaDescriptions[at] || null }))
  return { ...revision, media }
}
