import { Clock, Effect, FileSystem, Schema, Stream } from "effect"
import { traced } from "../../services/runtime/Traced.ts"
import type { Connection } from "../Database.ts"
import { OperatorError } from "../OperatorError.ts"
import { personalTables, secretColumns } from "./PersonalTables.ts"
import * as Session from "./Session.ts"

const IdRow = Schema.Tuple([Schema.BigInt])
const NameRow = Schema.Tuple([Schema.String])

/** Returns the SQL condition for the rows `t` of a table about the account `id`. */
const conditionOf = (table: string, id: bigint, alias = "t"): string => {
  const { by = [], via } = personalTables.get(table) ?? {}
  const direct = by.map((column) => `${alias}.${column} = ${id}`)
  if (via === undefined) return direct.join(" OR ")
  const [column, parent] = via
  const inner = `${alias}p`
  return [
    ...direct,
    `${alias}.${column} IN (SELECT ${inner}.id FROM ${parent} ${inner} WHERE ${conditionOf(parent, id, inner)})`
  ].join(" OR ")
}

/** Names the author of a report only in own reports: a reported person does not learn who reported. */
const withoutReporter = (table: string, id: bigint): string =>
  table === "reports" ? ` - CASE WHEN t.account_id = ${id} THEN '' ELSE 'account_id' END` : ""

const accountOf = Effect.fnUntraced(function*(session: Session.Session, handle: string) {
  const [name = "", domain] = handle.replace(/^@/, "").toLowerCase().split("@")
  const [row] = yield* session.rows(
    IdRow,
    "SELECT id FROM accounts WHERE lower(username) = $1 AND lower(domain) IS NOT DISTINCT FROM $2::text",
    [name, domain ?? null]
  )
  return row === undefined ? yield* new OperatorError({ message: `There is no account ${handle} here` }) : row[0]
})

/**
 * Writes everything that the server knows about an account to `file`: a JSON object with the rows of each table, without
 * passwords, tokens and keys. Returns the number of rows. The account may be of another server (`name@host`).
 */
export const write = traced("PersonalExport.write")(function*(handle: string, file: string, connection: Connection) {
  const fs = yield* FileSystem.FileSystem
  if (yield* fs.exists(file)) return yield* new OperatorError({ message: `${file} exists already` })
  const session = yield* Session.open(connection)
  yield* session.run("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
  const id = yield* accountOf(session, handle)
  const hidden = (yield* session.rows(
    NameRow,
    `SELECT DISTINCT column_name::text FROM information_schema.columns
      WHERE table_schema = current_schema() AND data_type = 'bytea'`
  )).map(([name]) => name)
  const left = `'{${[...new Set([...hidden, ...secretColumns])].join(",")}}'::text[]`
  const part = `${file}.part`
  let rows = 0
  yield* Effect.scoped(Effect.gen(function*() {
    const open = yield* fs.open(part, { flag: "w", mode: 0o600 })
    const put = (text: string) => open.writeAll(new TextEncoder().encode(text))
    const exportedAt = new Date(yield* Clock.currentTimeMillis).toISOString()
    yield* put(`{"account":${JSON.stringify(handle)},"exportedAt":"${exportedAt}","tables":{`)
    for (const [at, table] of [...personalTables.keys()].entries()) {
      yield* put(`${at === 0 ? "" : ","}\n${JSON.stringify(table)}:[`)
      let first = true
      const query = `SELECT (to_jsonb(t) - ${left}${withoutReporter(table, id)})::text FROM ${Session.quoted(table)} t
        WHERE ${conditionOf(table, id)}`
      yield* Stream.runForEach(session.texts(query), (some) => {
        rows += some.length
        const text = some.map((row) => `\n${row}`).join(",")
        const joined = first || some.length === 0 ? text : `,${text}`
        first = first && some.length === 0
        return put(joined)
      })
      yield* put("]")
    }
    yield* put("}}\n")
    yield* open.sync
  })).pipe(Effect.tapError(() => Effect.ignore(fs.remove(part, { force: true }))))
  yield* fs.rename(part, file)
  return rows
}, Effect.scoped)
