import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import type { Fragment } from "effect/sql/Statement"
import type { AccountId } from "../database/Ids.ts"
import { clauses, newestFirst, type Page } from "../database/Paging.ts"
import { rowsOf, Timestamptz } from "../database/Rows.ts"
import { MediaRecord, recordOf } from "../media/MediaRecord.ts"
import { RecordNotFound } from "../runtime/Errors.ts"
import { traced } from "../runtime/Traced.ts"
import { PersistedPost, type Post } from "./Post.ts"

/** A scheduled post or draft, with its files in order. */
export interface UnpublishedPost {
  readonly id: bigint
  readonly post: Post
  readonly media: ReadonlyArray<MediaRecord>
}
/** A scheduled post. */
export interface ScheduledRecord extends UnpublishedPost {
  readonly scheduledAt: Date
}
/** A draft. */
export interface DraftRecord extends UnpublishedPost {
  readonly createdAt: Date
  readonly updatedAt: Date
}

const waiting = { id: Schema.BigInt, params: Schema.Unknown, media: Schema.Array(MediaRecord) }
const WaitingRow = Schema.Struct(waiting)
const scheduledRows = rowsOf(Schema.Struct({ ...waiting, scheduledAt: Timestamptz }))
const draftRows = rowsOf(Schema.Struct({ ...waiting, createdAt: Timestamptz, updatedAt: Timestamptz }))

interface Reads<Record> {
  readonly page: (owner: AccountId, page: Page) => Effect.Effect<ReadonlyArray<Record>>
  readonly find: (owner: AccountId, id: bigint) => Effect.Effect<Record, RecordNotFound>
}

/**
 * Reads scheduled posts and drafts: rows of `scheduled_statuses` with or without a time. The account's actor writes
 * them.
 */
export class UnpublishedPosts extends Context.Service<UnpublishedPosts, {
  readonly scheduled: Reads<ScheduledRecord>
  readonly drafts: Reads<DraftRecord>
}>()("murmuration/services/statuses/UnpublishedPosts") {
  static readonly layer = Layer.effect(
    UnpublishedPosts,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient

      const complete = Effect.fnUntraced(function*<Row extends typeof WaitingRow.Type>({ media, params, ...row }: Row) {
        const post = yield* PersistedPost.decode(params)
        const known = new Map(media.map((one) => [BigInt(one.id), one]))
        return { ...row, post, media: (post.mediaIds ?? []).flatMap((id) => known.get(id) ?? []) }
      })
      /** Returns the readers of one kind; `more` are its further columns. */
      const readsOf = <Row extends typeof WaitingRow.Type>(
        rows: (
          statement: Effect.Effect<ReadonlyArray<unknown>, SqlError>
        ) => Effect.Effect<ReadonlyArray<Row>, SqlError>,
        kind: Fragment,
        more: Fragment
      ) => {
        const found = (owner: AccountId, where: Fragment) =>
          rows(sql`SELECT s.id, s.params, coalesce((SELECT json_agg(${recordOf(sql)})
              FROM media_attachments m WHERE m.scheduled_status_id = s.id), '[]') AS media, ${more}
            FROM scheduled_statuses s WHERE account_id = ${owner} AND ${kind} AND ${where}`)
        return {
          page: traced("UnpublishedPosts.page")(function*(owner: AccountId, page: Page) {
            if (page.limit === 0) return []
            const { tail, where } = clauses(sql, "id", page)
            const rows = yield* found(owner, sql`${where} ${tail}`)
            return yield* Effect.forEach(newestFirst(page, rows), complete)
          }, Effect.orDie),
          find: traced("UnpublishedPosts.find")(function*(owner: AccountId, id: bigint) {
            const [row] = yield* Effect.orDie(found(owner, sql`id = ${id}`))
            return row === undefined ? yield* new RecordNotFound() : yield* Effect.orDie(complete(row))
          })
        }
      }

      return UnpublishedPosts.of({
        scheduled: readsOf(scheduledRows, sql`scheduled_at IS NOT NULL`, sql`s.scheduled_at`),
        drafts: readsOf(
          draftRows,
          sql`scheduled_at IS NULL`,
          sql`s.created_at, coalesce(s.updated_at, s.created_at) AS updated_at`
        )
      })
    })
  )
}
