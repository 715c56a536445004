import { Effect } from "effect"
import type { SqlClient } from "effect/sql/SqlClient"
import { isSqlError, type SqlError } from "effect/sql/SqlError"
import { boundedCount } from "../BoundedCounts.ts"
import { RecordNotFound } from "../Errors.ts"
import { clauses, newestFirst, type Page } from "../Paging.ts"

type Decoder<Row> = (
  statement: Effect.Effect<ReadonlyArray<unknown>, SqlError>
) => Effect.Effect<ReadonlyArray<Row>, SqlError>

/** A table of what staff decided, read as its lists and single entities are: by id. */
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
    /** The same for who changes or removes it, in the running transaction: of two, the second one waits and is told. */
    take: (id: bigint) => one(id, true),
    remove: (id: bigint) => sql`DELETE FROM ${sql(table)} WHERE id = ${id}`
  }
}

/** Whether somebody else wrote the same meanwhile. */
export const isTaken = (error: unknown): boolean => isSqlError(error) && error.reason._tag === "UniqueViolation"
