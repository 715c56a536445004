import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { RecordNotFound } from "../Errors.ts"
import type { AccountId } from "../Ids.ts"
import { MediaRecord, recordOf } from "../media/MediaRecord.ts"
import { clauses, newestFirst, type Page } from "../Paging.ts"
import { rowsOf, Timestamptz } from "../Rows.ts"
import { traced } from "../Traced.ts"
import { PersistedPost, type Post } from "./Post.ts"

export interface ScheduledRecord {
  readonly id: bigint
  readonly scheduledAt: Date
  readonly post: Post
  readonly media: ReadonlyArray<MediaRecord>
}

/** Reads posts that wait for their time. Their account's actor writes them. */
export class ScheduledStatuses extends Context.Service<ScheduledStatuses, {
  readonly page: (owner: AccountId, page: Page) => Effect.Effect<ReadonlyArray<ScheduledRecord>>
  readonly find: (owner: AccountId, id: bigint) => Effect.Effect<ScheduledRecord, RecordNotFound>
}>()("murmuration/services/statuses/ScheduledStatuses") {
  static readonly layer = Layer.effect(
    ScheduledStatuses,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const read = Effect.fnUntraced(function*({ media, params, ...row }: Row) {
        const post = yield* PersistedPost.decode(params)
        const known = new Map(media.map((one) => [BigInt(one.id), one]))
        return { ...row, post, media: (post.mediaIds ?? []).flatMap((id) => known.get(id) ?? []) }
      })
      const columns = sql`s.id, s.scheduled_at, s.params, coalesce((SELECT json_agg(${recordOf(sql)})
        FROM media_attachments m WHERE m.scheduled_status_id = s.id), '[]') AS media`

      const page = traced("ScheduledStatuses.page")(function*(owner: AccountId, page: Page) {
        if (page.limit === 0) return []
        const { tail, where } = clauses(sql, "id", page)
        const rows = yield* scheduledRows(sql`SELECT ${columns} FROM scheduled_statuses s
          WHERE account_id = ${owner} AND ${where} ${tail}`)
        return yield* Effect.forEach(newestFirst(page, rows), read)
      }, Effect.orDie)

      const find = traced("ScheduledStatuses.find")(function*(owner: AccountId, id: bigint) {
        const [row] = yield* scheduledRows(sql`SELECT ${columns} FROM scheduled_statuses s
          WHERE id = ${id} AND account_id = ${owner}`).pipe(Effect.orDie)
        return row === undefined ? yield* new RecordNotFound() : yield* read(row)
      })
      return ScheduledStatuses.of({ page, find })
    })
  )
}

const Row = Schema.Struct({
  id: Schema.BigInt,
  scheduledAt: Timestamptz,
  params: Schema.Unknown,
  media: Schema.Array(MediaRecord)
})
type Row = typeof Row.Type
const scheduledRows = rowsOf(Row)
