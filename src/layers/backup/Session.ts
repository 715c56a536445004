import { PgClient } from "@effect/sql-pg"
import { Effect, Option, Schema, Stream } from "effect"
import { Reactivity } from "effect/reactivity"
import { traced } from "../../services/runtime/Traced.ts"
import { type Connection, failed } from "../Database.ts"
import type { OperatorError } from "../OperatorError.ts"

/** Settings by which one Postgres writes values as another one reads them, without timeouts. */
const settings = [
  "SET statement_timeout = 0",
  "SET lock_timeout = 10000",
  "SET idle_in_transaction_session_timeout = 0",
  "SET timezone = 'UTC'",
  "SET datestyle = 'ISO, YMD'",
  "SET intervalstyle = 'postgres'",
  "SET bytea_output = 'hex'",
  "SET extra_float_digits = 1"
]

/** Rows that are read at once; a row of a received activity has up to a megabyte. */
const rowsMax = 100
const TextRow = Schema.Tuple([Schema.String])

/** Quotes an identifier of the database. */
export const quoted = (name: string): string => `"${name.replaceAll("\"", "\"\"")}"`

/** Opens one session of a database for a transaction that holds all tables; it closes with the scope. */
export const open = traced("Session.open")(function*(connection: Connection) {
  const sql = yield* PgClient.make({ ...connection, maxConnections: 1, connectTimeout: "3 seconds" }).pipe(
    Effect.provide(Reactivity.layer)
  )
  const session = yield* sql.reserve
  const run = (statement: string, params: ReadonlyArray<unknown> = []) =>
    Effect.mapError(session.executeValues(statement, params), failed)
  yield* Effect.forEach(settings, (statement) => run(statement), { discard: true })
  const rows = <S extends Schema.ConstraintDecoder<unknown>>(
    row: S,
    statement: string,
    params?: ReadonlyArray<unknown>
  ) =>
    Effect.flatMap(
      run(statement, params),
      (found) => Effect.orDie(Schema.decodeUnknownEffect(Schema.Array(row))(found))
    )
  return {
    run,
    /** Runs a statement and decodes its rows, each an array of its columns. */
    rows,
    /** Reads the texts that a query selects, some at a time; needs a transaction, one query at a time. */
    texts: (query: string): Stream.Stream<ReadonlyArray<string>, OperatorError> =>
      Stream.unwrap(Effect.as(
        run(`DECLARE part NO SCROLL CURSOR FOR ${query}`),
        Stream.paginate(undefined, () =>
          Effect.flatMap(rows(TextRow, `FETCH ${rowsMax} FROM part`), (found) => {
            const texts = found.map(([text]) => text)
            return texts.length < rowsMax
              ? Effect.as(run("CLOSE part"), [[texts], Option.none()] as const)
              : Effect.succeed([[texts], Option.some(undefined)] as const)
          }))
      ))
  }
}, Effect.mapError((error) => (error._tag === "SqlError" ? failed(error) : error)))

export type Session = Effect.Success<ReturnType<typeof open>>
