import { Effect } from "effect"
import type { SqlClient } from "effect/sql/SqlClient"
import { isSqlError, type SqlError } from "effect/sql/SqlError"
import { boundedCount } from "../database/BoundedCounts.ts"
import type { AccountId } from "../database/Ids.ts"
import { clauses, newestFirst, type Page } from "../database/Paging.ts"
import { RecordNotFound } from "../runtime/Errors.ts"
import type { AuditLog } from "./AuditLog.ts"

type Decoder<Row> = (
  statement: Effect.Effect<ReadonlyArray<unknown>, SqlError>
) => Effect.Effect<ReadonlyArray<Row>, SqlError>

/** Reads and deletes rows of a staff table by id, in pages or one by one. */
export const staffRows = <Row>(sql: SqlClient, table: string, rows: Decoder<Row>) => {
  const one = (id: bigint, locked: boolean) =>
    Effect.flatMap(
      rows(sql`SELECT * FROM ${sql(table)} WHERE id = ${id} ${sql.literal(locked ? "FOR UPDATE" : "")}`),
      ([row]) => row === undefined ? Effect.fail(new RecordNotFound()) : Effect.succeed(row)
    )
  return {
    rows,
    page: (page: Page) => {
      const { tail, where } = clauses(sql, "id", page)
      return rows(sql`SELECT * FROM ${sql(table)} WHERE ${where} ${tail}`).pipe(
        Effect.map((found) => newestFirst(page, found)),
        Effect.orDie
      )
    },
    total: boundedCount(sql)(sql`SELECT FROM ${sql(table)}`),
    find: (id: bigint) => Effect.catchTag(one(id, false), "SqlError", Effect.die),
    /**
     * Finds and locks a row, to change or delete it in the current transaction. A concurrent action waits, and then
     * sees the change.
     */
    take: (id: bigint) => one(id, true),
    remove: (id: bigint) => sql`DELETE FROM ${sql(table)} WHERE id = ${id}`
  }
}

type Block = "canonicalEmailBlock" | "emailDomainBlock" | "ipBlock" | "usernameBlock"

/** Staff rows whose removal is in the audit log. `target` names the entry's target. */
export const auditedRows = <Row extends Readonly<Record<string, unknown>>>(
  sql: SqlClient,
  audit: AuditLog["Service"],
  table: string,
  rows: Decoder<Row>,
  target: (row: Row) => { readonly type: Block; readonly id: bigint; readonly label: string }
) => {
  const list = staffRows(sql, table, rows)
  return {
    ...list,
    /** Removes a row and records it, in the current transaction. */
    destroy: Effect.fnUntraced(function*(by: AccountId | undefined, id: bigint) {
      const before = yield* list.take(id)
      yield* list.remove(id)
      yield* audit.record({ by, action: "destroy", target: target(before), before })
    })
  }
}

/** Returns true if the error is a unique violation, usually by a concurrent write. */
export const isTaken = (error: unknown): boolean => isSqlError(error) && error.reason._tag === "UniqueViolation"
