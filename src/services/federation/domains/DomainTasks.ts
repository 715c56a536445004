import { Schema } from "effect"
import type { SqlClient } from "effect/sql/SqlClient"
import { rowsMax } from "../../database/Paging.ts"
import { rowsOf } from "../../database/Rows.ts"

/** Pending update of a domain's accounts; `causeId` identifies the change. `phase` and the cursor are its progress. */
export const DomainTask = Schema.Struct({
  domain: Schema.String,
  causeId: Schema.BigInt,
  phase: Schema.Int,
  cursorKey: Schema.String,
  cursorId: Schema.BigInt
})
export type DomainTask = typeof DomainTask.Type
const taskRows = rowsOf(DomainTask)

/** Enqueues a task in the current transaction; a task in progress restarts. */
export const enqueue = (sql: SqlClient, domain: string, now: number) =>
  sql`INSERT INTO domain_tasks (domain, cause_id, created_at) VALUES (${domain}, next_id(${now}), ${new Date(now)})
    ON CONFLICT (domain) DO UPDATE SET phase = 0, cursor_key = '', cursor_id = 0`

/** Locks the oldest free task until the current transaction ends. */
export const claim = (sql: SqlClient) =>
  taskRows(sql`SELECT domain, cause_id, phase, cursor_key, cursor_id FROM domain_tasks
    ORDER BY created_at, domain LIMIT ${rowsMax(sql, 1)} FOR UPDATE SKIP LOCKED`)

/** Saves a task's progress, in the current transaction. */
export const advance = (sql: SqlClient, { domain }: DomainTask, phase: number, key: string, id: bigint) =>
  sql`UPDATE domain_tasks SET phase = ${phase}, cursor_key = ${key}, cursor_id = ${id} WHERE domain = ${domain}`

/** Deletes a finished task, in the current transaction. */
export const complete = (sql: SqlClient, { domain }: DomainTask) =>
  sql`DELETE FROM domain_tasks WHERE domain = ${domain}`
