import { Schema } from "effect"
import type { SqlClient } from "effect/sql/SqlClient"
import { rowsMax } from "../../Paging.ts"
import { rowsOf } from "../../Rows.ts"

/**
 * Accounts of a domain that are to be brought in line with the rules; `causeId` names the change. `phase` and the cursor say how
 * far that has come.
 */
export const DomainTask = Schema.Struct({
  domain: Schema.String,
  causeId: Schema.BigInt,
  phase: Schema.Int,
  cursorKey: Schema.String,
  cursorId: Schema.BigInt
})
export type DomainTask = typeof DomainTask.Type
const taskRows = rowsOf(DomainTask)

/** Writes the task in the running transaction; one that is under way begins anew. */
export const enqueue = (sql: SqlClient, domain: string, now: number) =>
  sql`INSERT INTO domain_tasks (domain, cause_id, created_at) VALUES (${domain}, next_id(${now}), ${new Date(now)})
    ON CONFLICT (domain) DO UPDATE SET phase = 0, cursor_key = '', cursor_id = 0`

/** The oldest task that nobody is at, held to the end of the running transaction. */
export const claim = (sql: SqlClient) =>
  taskRows(sql`SELECT domain, cause_id, phase, cursor_key, cursor_id FROM domain_tasks
    ORDER BY created_at, domain LIMIT ${rowsMax(sql, 1)} FOR UPDATE SKIP LOCKED`)

/** Commits how far a task has come, in the running transaction. */
export const advance = (sql: SqlClient, { domain }: DomainTask, phase: number, key: string, id: bigint) =>
  sql`UPDATE domain_tasks SET phase = ${phase}, cursor_key = ${key}, cursor_id = ${id} WHERE domain = ${domain}`

/** Is done, in the running transaction. */
export const complete = (sql: SqlClient, { domain }: DomainTask) =>
  sql`DELETE FROM domain_tasks WHERE domain = ${domain}`
