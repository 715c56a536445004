import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { RecordNotFound } from "../Errors.ts"
import type { AccountId } from "../Ids.ts"
import { clauses, newestFirst, type Page } from "../Paging.ts"
import { traced } from "../Traced.ts"

/** A post as the account's actor keeps it until its time; ids are decimal strings. */
export const ScheduledPost = Schema.Struct({
  text: Schema.String,
  spoilerText: Schema.String,
  sensitive: Schema.NullOr(Schema.Boolean),
  visibility: Schema.NullOr(Schema.Literals(["public", "unlisted", "private", "direct"])),
  language: Schema.NullOr(Schema.String),
  inReplyToId: Schema.NullOr(Schema.String),
  applicationId: Schema.NullOr(Schema.String),
  allowedMentions: Schema.NullOr(Schema.Array(Schema.String))
})

export interface ScheduledRecord {
  readonly id: bigint
  readonly scheduledAt: Date
  readonly post: typeof ScheduledPost.Type
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
      const read = Effect.fnUntraced(function*({ id, params, scheduledAt }: Row) {
        return { id, scheduledAt, post: yield* Effect.orDie(decode(params)) }
      })

      const page = traced("ScheduledStatuses.page")(function*(owner: AccountId, page: Page) {
        if (page.limit === 0) return []
        const { tail, where } = clauses(sql, "id", page)
        const rows = yield* sql<Row>`SELECT id, scheduled_at, params FROM scheduled_statuses
          WHERE account_id = ${owner} AND ${where} ${tail}`
        return yield* Effect.forEach(newestFirst(page, rows), read)
      }, Effect.orDie)

      const find = traced("ScheduledStatuses.find")(function*(owner: AccountId, id: bigint) {
        const [row] = yield* sql<Row>`SELECT id, scheduled_at, params FROM scheduled_statuses
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
}
const decode = Schema.decodeUnknownEffect(ScheduledPost)
