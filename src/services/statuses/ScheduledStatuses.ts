import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { RecordNotFound } from "../Errors.ts"
import type { AccountId } from "../Ids.ts"
import { clauses, newestFirst, type Page } from "../Paging.ts"
import { rowsOf, Timestamptz } from "../Rows.ts"
import { traced } from "../Traced.ts"
import { readWaiting, waitingColumns, type WaitingPost, WaitingRow } from "./WaitingPosts.ts"

export interface ScheduledRecord extends WaitingPost {
  readonly scheduledAt: Date
}

const scheduledRows = rowsOf(Schema.Struct({ ...WaitingRow.fields, scheduledAt: Timestamptz }))

/** Reads posts that wait for their time. Their account's actor writes them. */
export class ScheduledStatuses extends Context.Service<ScheduledStatuses, {
  readonly page: (owner: AccountId, page: Page) => Effect.Effect<ReadonlyArray<ScheduledRecord>>
  readonly find: (owner: AccountId, id: bigint) => Effect.Effect<ScheduledRecord, RecordNotFound>
}>()("murmuration/services/statuses/ScheduledStatuses") {
  static readonly layer = Layer.effect(
    ScheduledStatuses,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const columns = sql`${waitingColumns(sql)}, s.scheduled_at`

      const page = traced("ScheduledStatuses.page")(function*(owner: AccountId, page: Page) {
        if (page.limit === 0) return []
        const { tail, where } = clauses(sql, "id", page)
        const rows = yield* scheduledRows(sql`SELECT ${columns} FROM scheduled_statuses s
          WHERE account_id = ${owner} AND scheduled_at IS NOT NULL AND ${where} ${tail}`)
        return yield* Effect.forEach(newestFirst(page, rows), readWaiting)
      }, Effect.orDie)

      const find = traced("ScheduledStatuses.find")(function*(owner: AccountId, id: bigint) {
        const [row] = yield* scheduledRows(sql`SELECT ${columns} FROM scheduled_statuses s
          WHERE id = ${id} AND account_id = ${owner} AND scheduled_at IS NOT NULL`).pipe(Effect.orDie)
        return row === undefined ? yield* new RecordNotFound() : yield* readWaiting(row)
      })
      return ScheduledStatuses.of({ page, find })
    })
  )
}
