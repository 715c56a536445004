import { Effect } from "effect"
import type { SqlClient } from "effect/sql/SqlClient"
import { isSqlError, type SqlError } from "effect/sql/SqlError"
import { boundedCount } from "../database/BoundedCounts.ts"
import type { AccountId } from "../database/Ids.ts"
import { clauses, newestFirst, type Page } from "../database/Paging.ts"
import { RecordNotFound } from "../runtime/Errors.ts"
import type { AuditAction } from "./AuditActions.ts"
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

type Audited =
  | "canonicalEmailBlock"
  | "domainAllow"
  | "domainBlock"
  | "emailDomainBlock"
  | "ipBlock"
  | "moderationList"
  | "relay"
  | "spamRule"
  | "usernameBlock"
  | "warningPreset"
  | "webhook"

/** Staff rows whose changes are in the audit log. */
export const auditedRows = <Row extends Readonly<Record<string, unknown>>>(
  { audit, logged = (row) => row, rows, sql, table, target }: {
    readonly sql: SqlClient
    readonly audit: AuditLog["Service"]
    readonly table: string
    readonly rows: Decoder<Row>
    /** Target of the entries about a row. */
    readonly target: (row: Row) => { readonly type: Audited; readonly id: bigint; readonly label: string }
    /** State of a row in the entries: by default the whole row. */
    readonly logged?: (row: Row) => Readonly<Record<string, unknown>>
  }
) => {
  const list = staffRows(sql, table, rows)
  type By = AccountId | undefined
  const changed = (by: By, before: Row, after: Row, action: AuditAction<Audited> = "update") =>
    Effect.as(
      audit.record({ by, action, target: target(after), before: logged(before), after: logged(after) }),
      after
    )
  const destroyed = (by: By, before: Row) =>
    audit.record({ by, action: "destroy", target: target(before), before: logged(before) })
  // Each runs in the current transaction.
  return {
    ...list,
    /** Records a new row, and returns it. */
    created: (by: By, row: Row) =>
      Effect.as(audit.record({ by, action: "create", target: target(row), after: logged(row) }), row),
    /** Records the change of a row, and returns the new row. */
    changed,
    /** Records the removal of a row. */
    destroyed,
    /** Locks a row, changes it by `work`, and records the change. Returns the new row. */
    change: <E, R>(by: By, id: bigint, work: (before: Row) => Effect.Effect<Row, E, R>) =>
      Effect.flatMap(
        list.take(id),
        (before) => Effect.flatMap(work(before), (after) => changed(by, before, after))
      ),
    /** Removes a row, and records it. */
    destroy: Effect.fnUntraced(function*(by: By, id: bigint) {
      const before = yield* list.take(id)
      yield* list.remove(id)
      yield* destroyed(by, before)
    })
  }
}

/** Returns true if the error is a unique violation, usually by a concurrent write. */
export const isTaken = (error: unknown): boolean => isSqlError(error) && error.reason._tag === "UniqueViolation"
