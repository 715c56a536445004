import { Effect, Schema } from "effect"
import type { SqlClient } from "effect/sql/SqlClient"
import type { Fragment } from "effect/sql/Statement"
import { MediaRecord, recordOf } from "../media/MediaRecord.ts"
import { PersistedPost, type Post } from "./Post.ts"

/* Posts that wait as rows of `scheduled_statuses`: for their time, or as drafts without one. */

/** What both kinds are read of. */
export const WaitingRow = Schema.Struct({
  id: Schema.BigInt,
  params: Schema.Unknown,
  media: Schema.Array(MediaRecord)
})

/** Its columns, of a row under `s`. */
export const waitingColumns = (sql: SqlClient): Fragment =>
  sql`s.id, s.params, coalesce((SELECT json_agg(${recordOf(sql)})
    FROM media_attachments m WHERE m.scheduled_status_id = s.id), '[]') AS media`

/** A post that waits, with its files in their order. */
export interface WaitingPost {
  readonly id: bigint
  readonly post: Post
  readonly media: ReadonlyArray<MediaRecord>
}

export const readWaiting = Effect.fnUntraced(
  function*<Row extends typeof WaitingRow.Type>({ media, params, ...row }: Row) {
    const post = yield* PersistedPost.decode(params)
    const known = new Map(media.map((one) => [BigInt(one.id), one]))
    return { ...row, post, media: (post.mediaIds ?? []).flatMap((id) => known.get(id) ?? []) }
  }
)
