import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { RecordNotFound } from "../Errors.ts"
import type { AccountId } from "../Ids.ts"
import { clauses, newestFirst, type Page } from "../Paging.ts"
import { rowsOf, Timestamptz } from "../Rows.ts"
import { traced } from "../Traced.ts"
import { readWaiting, waitingColumns, type WaitingPost, WaitingRow } from "./WaitingPosts.ts"

export interface DraftRecord extends WaitingPost {
  readonly createdAt: Date
  readonly updatedAt: Date
}

const draftRows = rowsOf(Schema.Struct({ ...WaitingRow.fields, createdAt: Timestamptz, updatedAt: Timestamptz }))

/** Reads posts that their authors have not finished. Their account's actor writes them. */
export class StatusDrafts extends Context.Service<StatusDrafts, {
  readonly page: (owner: AccountId, page: Page) => Effect.Effect<ReadonlyArray<DraftRecord>>
  readonly find: (owner: AccountId, id: bigint) => Effect.Effect<DraftRecord, RecordNotFound>
}>()("murmuration/services/statuses/StatusDrafts") {
  static readonly layer = Layer.effect(
    StatusDrafts,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const columns = sql`${waitingColumns(sql)}, s.created_at, coalesce(s.updated_at, s.created_at) AS updated_at`

      const page = traced("StatusDrafts.page")(function*(owner: AccountId, page: Page) {
        if (page.limit === 0) return []
        const { tail, where } = clauses(sql, "id", page)
        const rows = yield* draftRows(sql`SELECT ${columns} FROM scheduled_statuses s
          WHERE account_id = ${owner} AND scheduled_at IS NULL AND ${where} ${tail}`)
        return yield* Effect.forEach(newestFirst(page, rows), readWaiting)
      }, Effect.orDie)

      const find = traced("StatusDrafts.find")(function*(owner: AccountId, id: bigint) {
        const [row] = yield* draftRows(sql`SELECT ${columns} FROM scheduled_statuses s
          WHERE id = ${id} AND account_id = ${owner} AND scheduled_at IS NULL`).pipe(Effect.orDie)
        return row === undefined ? yield* new RecordNotFound() : yield* readWaiting(row)
      })
      return StatusDrafts.of({ page, find })
    })
  )
}
