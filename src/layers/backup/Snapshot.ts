import { Effect, Schema, Stream } from "effect"
import { traced } from "../../services/runtime/Traced.ts"
import type { Connection } from "../Database.ts"
import { OperatorError } from "../OperatorError.ts"
import { lockKey } from "../SingleServer.ts"
import * as Catalog from "./Catalog.ts"
import * as Session from "./Session.ts"

/**
 * Maximum characters of the rows of one part, except for a single longer row. A row of a received activity has a
 * megabyte, and a part must stay far below what a restore reads.
 */
const partCharactersMax = 8_388_608

/** Some rows of a table, each in Postgres' text form of the row, which every type survives unchanged. */
export interface Rows {
  readonly table: string
  readonly rows: ReadonlyArray<string>
}

/** Splits rows into parts of `charactersMax` characters, in order; a longer row is a part of its own. */
export const partsOf = (
  rows: ReadonlyArray<string>,
  charactersMax: number = partCharactersMax
): ReadonlyArray<ReadonlyArray<string>> => {
  const parts: Array<Array<string>> = []
  let room = 0
  for (const row of rows) {
    const part = parts.at(-1)
    room -= row.length
    if (part === undefined || room < 0) {
      parts.push([row])
      room = charactersMax - row.length
    } else part.push(row)
  }
  return parts
}

/**
 * Reads a database as it is at one moment, while others write. The snapshot ends with the scope; until then Postgres
 * keeps row versions that it would otherwise remove.
 */
export const open = traced("Snapshot.open")(function*(connection: Connection) {
  const session = yield* Session.open(connection)
  yield* session.run("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
  const migration = yield* Catalog.migrationOf(session)
  if (migration === 0) return yield* new OperatorError({ message: "There is no server in this database" })
  const tables = yield* Catalog.tablesOf(session)
  const sequences = yield* Catalog.sequencesOf(session)

  const readTable = (table: string): Stream.Stream<Rows, OperatorError> =>
    session.texts(`SELECT t::text FROM ${Session.quoted(table)} t`).pipe(
      Stream.flatMap((rows) => Stream.fromIterable(partsOf(rows))),
      Stream.map((rows) => ({ table, rows }))
    )

  return {
    migration,
    tables,
    sequences,
    /** Fails if a server uses the database. */
    refuseRunningServer: Effect.flatMap(
      session.rows(Schema.Tuple([Schema.Boolean]), `SELECT pg_try_advisory_xact_lock(${lockKey})`),
      ([row]) => row?.[0] === true ? Effect.void : new OperatorError({ message: "The server runs. Stop it first." })
    ),
    /** Rows of all tables, table by table. */
    rows: Stream.fromIterable(tables).pipe(
      Stream.flatMap(({ name }) => readTable(name))
    )
  }
})
