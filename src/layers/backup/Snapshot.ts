import { Effect, Schema, Stream } from "effect"
import { traced } from "../../services/runtime/Traced.ts"
import type { Connection } from "../Database.ts"
import { OperatorError } from "../OperatorError.ts"
import { lockKey } from "../SingleServer.ts"
import * as Catalog from "./Catalog.ts"
import * as Session from "./Session.ts"

/** Some rows of a table, each in Postgres' text form of the row, which every type survives unchanged. */
export interface Rows {
  readonly table: string
  readonly rows: ReadonlyArray<string>
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
    Stream.map(session.texts(`SELECT t::text FROM ${Session.quoted(table)} t`), (rows) => ({ table, rows }))

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
      Stream.flatMap(({ name }) => readTable(name)),
      Stream.filter(({ rows }) => rows.length > 0)
    )
  }
})
