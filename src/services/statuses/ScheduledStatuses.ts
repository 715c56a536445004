import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { RecordNotFound } from "../Errors.ts"
import type { AccountId } from "../Ids.ts"
import { type MediaRecord, recordOf } from "../media/MediaRecord.ts"
import { clauses, newestFirst, type Page } from "../Paging.ts"
import { traced } from "../Traced.ts"

/** A post as the account's actor keeps it until its time; ids are decimal strings. */
const ScheduledPost = Schema.Struct({
  text: Schema.String,
  spoilerText: Schema.String,
  sensitive: Schema.NullOr(Schema.Boolean),
  visibility: Schema.NullOr(Schema.Literals(["public", "unlisted", "private", "direct"])),
  language: Schema.NullOr(Schema.String),
  inReplyToId: Schema.NullOr(Schema.String),
  applicationId: Schema.NullOr(Schema.String),
  allowedMentions: Schema.NullOr(Schema.Array(Schema.String)),
  mediaIds: Schema.optionalKey(Schema.Array(Schema.String)),
  quoteApprovalPolicy: Schema.optionalKey(Schema.Literals(["public", "followers", "nobody"])),
  poll: Schema.optionalKey(Schema.Struct({
    options: Schema.Array(Schema.String),
    seconds: Schema.Int,
    multiple: Schema.Boolean,
    hideTotals: Schema.Boolean
  }))
})

export interface ScheduledRecord {
  readonly id: bigint
  readonly scheduledAt: Date
  readonly post: typeof ScheduledPost.Type
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
        const post = yield* Effect.orDie(decode(params))
        const known = new Map(media.map((one) => [one.id, one]))
        return { ...row, post, media: (post.mediaIds ?? []).flatMap((id) => known.get(id) ?? []) }
      })
      const columns = sql`s.id, s.scheduled_at, s.params, coalesce((SELECT json_agg(${recordOf(sql)})
        FROM media_attachments m WHERE m.scheduled_status_id = s.id), '[]') AS media`

      const page = traced("ScheduledStatuses.page")(function*(owner: AccountId, page: Page) {
        if (page.limit === 0) return []
        const { tail, where } = clauses(sql, "id", page)
        const rows = yield* sql<Row>`SELECT ${columns} FROM scheduled_statuses s
          WHERE account_id = ${owner} AND ${where} ${tail}`
        return yield* Effect.forEach(newestFirst(page, rows), read)
      }, Effect.orDie)

      const find = traced("ScheduledStatuses.find")(function*(owner: AccountId, id: bigint) {
        const [row] = yield* sql<Row>`SELECT ${columns} FROM scheduled_statuses s
          WHERE id = ${id} AND account_id = ${owner}`.pipe(Effect.orDie)
        return row === undefined ? yield* new RecordNotFound() : yield* read(row)
      })
      return ScheduledStatuses.of({ page, find })
    })
  )
}

interface Row {
  readonly id: bigint
  readonly scheduledAt: Date
  readonly params: unknown
  readonly media: ReadonlyArray<MediaRecord>
}
const decode = Schema.decodeUnknownEffect(ScheduledPost)
