import { Effect, Schema } from "effect"
import { traced } from "../../services/runtime/Traced.ts"
import { type Connection, migrate } from "../Database.ts"
import { OperatorError } from "../OperatorError.ts"
import { lockKey } from "../SingleServer.ts"
import * as Catalog from "./Catalog.ts"
import * as Session from "./Session.ts"
import type { Rows } from "./Snapshot.ts"

const FlagRow = Schema.Tuple([Schema.Boolean])

/** Content of a database, beside its rows. */
interface Shape {
  readonly migration: number
  readonly tables: ReadonlyArray<Catalog.Table>
  readonly sequences: ReadonlyArray<typeof Catalog.Sequence.Type>
}

const isTrue = (session: Session.Session, statement: string) =>
  Effect.map(session.rows(FlagRow, statement), ([row]) => row?.[0] === true)

const refused = (message: string) => new OperatorError({ message })

/** Fails unless the tables are those of the source, column by column: rows are read by the order of columns. */
const sameTables = Effect.fnUntraced(function*(session: Session.Session, { tables }: Shape) {
  const columnsByTable = new Map(
    (yield* Catalog.tablesOf(session)).map(({ columns, name }) => [name, columns.join(", ")])
  )
  const differing = tables.filter(({ columns, name }) => columnsByTable.get(name) !== columns.join(", ")).map((
    { name }
  ) => name)
  if (differing.length > 0 || columnsByTable.size !== tables.length) {
    return yield* refused(
      `The target has the schema of another version (${differing.slice(0, 5).join(", ")}). Use an empty database.`
    )
  }
})

/**
 * Loads rows into an empty database, in one transaction: the target gets everything or stays as it is. First creates
 * the schema of the source's migration; `finish` commits. Fails if the target has accounts or a running server.
 */
export const open = traced("Loading.open")(function*(connection: Connection, shape: Shape) {
  yield* migrate(connection, shape.migration)
  const session = yield* Session.open(connection)
  yield* session.run("BEGIN")
  yield* Effect.addFinalizer(() => Effect.ignore(session.run("ROLLBACK")))
  if (!(yield* isTrue(session, `SELECT pg_try_advisory_xact_lock(${lockKey})`))) {
    return yield* refused("A server uses the target. Stop it first.")
  }
  if (yield* isTrue(session, "SELECT EXISTS (SELECT FROM users) OR EXISTS (SELECT FROM accounts)")) {
    return yield* refused("The target is not empty: it has accounts. Use another DATA_DIR, or another database.")
  }
  yield* sameTables(session, shape)
  const names = shape.tables.map(({ name }) => Session.quoted(name))
  const foreignKeys = yield* Catalog.foreignKeysOf(session)
  const triggers = yield* Catalog.enablingTriggers(session)
  yield* Effect.forEach(foreignKeys, ([table, name]) => session.run(`ALTER TABLE ${table} DROP CONSTRAINT ${name}`))
  yield* Effect.forEach(names, (name) => session.run(`ALTER TABLE ${name} DISABLE TRIGGER USER`))
  // Migrations wrote some rows, which the source has as well.
  yield* session.run(`TRUNCATE ${names.join(", ")}`)

  const statements = new Map<string, string>()
  const statementOf = Effect.fnUntraced(function*(table: string) {
    const before = statements.get(table)
    if (before !== undefined) return before
    if (!shape.tables.some(({ name }) => name === table)) return yield* refused(`The table ${table} is unknown`)
    const columns = (yield* Catalog.writableColumns(session, Session.quoted(table))).map(Session.quoted)
    // OFFSET 0 keeps Postgres from parsing a row once for each column.
    const statement = `INSERT INTO ${Session.quoted(table)} (${columns.join(", ")}) OVERRIDING SYSTEM VALUE
      SELECT ${columns.map((column) => `(t).${column}`).join(", ")}
      FROM (SELECT r::${Session.quoted(table)} AS t FROM unnest($1::text[]) r OFFSET 0) found`
    statements.set(table, statement)
    return statement
  })

  return {
    load: Effect.fnUntraced(function*({ rows, table }: Rows) {
      yield* session.run(yield* statementOf(table), [rows])
    }),
    /** Stores secrets in the database, for servers that keep them there. */
    keepSecrets: (secrets: ReadonlyArray<readonly [name: string, value: string]>, at: Date) =>
      Effect.forEach(secrets, ([name, value]) =>
        session.run(
          `INSERT INTO secrets (name, value, created_at) VALUES ($1, $2, $3::text::timestamptz)
            ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
          [name, value, at.toISOString()]
        ), { discard: true }),
    /** Restores sequences, keys and triggers, and commits. */
    finish: Effect.gen(function*() {
      yield* Effect.forEach(
        shape.sequences,
        ({ isCalled, lastValue, name }) =>
          session.run("SELECT setval($1::text::regclass, $2::text::bigint, $3)", [
            Session.quoted(name),
            lastValue,
            isCalled
          ])
      )
      yield* Effect.forEach(
        foreignKeys,
        ([table, name, definition]) => session.run(`ALTER TABLE ${table} ADD CONSTRAINT ${name} ${definition}`)
      )
      yield* Effect.forEach(triggers, (statement) => session.run(statement))
      yield* session.run("COMMIT")
      yield* session.run("ANALYZE")
      yield* migrate(connection)
    })
  }
})
