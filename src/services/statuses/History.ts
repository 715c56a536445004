import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { type MediaRecord, recordsOf } from "../media/MediaRecord.ts"
import { rowsMax } from "../Paging.ts"
import { traced } from "../Traced.ts"

/** A version of a status. */
export interface Revision {
  readonly accountId: bigint
  readonly local: boolean
  /** The status' id; null for a local one. */
  readonly uri: string | null
  readonly html: string
  readonly spoilerText: string
  readonly sensitive: boolean
  readonly createdAt: Date
  /** As it was then: with the descriptions of its time. */
  readonly media: ReadonlyArray<MediaRecord>
  /** Options of its poll; null where it had none. */
  readonly pollOptions: ReadonlyArray<string> | null
}

/** Versions of one status that are shown, the oldest. */
const revisionsMax = 500

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
        const rows = yield* sql<Row>`
          SELECT s.account_id, s.local, s.uri, e.html, e.spoiler_text, e.sensitive, e.created_at,
            ${recordsOf(sql, "e.media_ids")} AS media, e.media_descriptions, e.poll_options FROM statuses s
          CROSS JOIN LATERAL (
            (SELECT id, html, spoiler_text, sensitive, created_at, media_ids, media_descriptions, poll_options FROM status_edits
              WHERE status_id = s.id
              ORDER BY id LIMIT ${rowsMax(sql, revisionsMax)})
            UNION ALL
            SELECT s.id, s.html, s.spoiler_text, s.sensitive, s.created_at, s.media_ids, NULL,
              (SELECT options FROM polls WHERE status_id = s.id) WHERE s.edited_at IS NULL) e
          WHERE s.id = ${statusId} ORDER BY e.id`
        return rows.map(asThen)
      }, Effect.orDie)
      return History.of({ of })
    })
  )
}

type Row = Revision & { readonly mediaDescriptions: ReadonlyArray<string> | null }

/** The files with what was said of them when the revision was made. */
const asThen = ({ mediaDescriptions, ...revision }: Row): Revision => {
  if (mediaDescriptions === null) return revision
  const media = revision.media.map((one, at) => Object.assign(one, { description: mediaDescriptions[at] || null }))
  return { ...revision, media }
}
