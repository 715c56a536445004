import { Clock, Effect, Schema, Stream } from "effect"
import { traced } from "../../services/runtime/Traced.ts"
import type { Connection } from "../Database.ts"
import { Environment } from "../Environment.ts"
import { OperatorError } from "../OperatorError.ts"
import * as NewFile from "./NewFile.ts"
import { personalTables, secretColumns, staffPart } from "./PersonalTables.ts"
import * as Session from "./Session.ts"

const IdRow = Schema.Tuple([Schema.BigInt])
const NameRow = Schema.Tuple([Schema.String])

/** Returns the SQL condition for the rows `t` of a table about the account `id`. */
const conditionOf = (table: string, id: bigint, alias = "t"): string => {
  const { by = [], only, via } = personalTables.get(table) ?? {}
  const direct = by.map((column) =>
    only?.[0] === column ? `${alias}.${column} = ${id} AND ${only[1]}` : `${alias}.${column} = ${id}`
  )
  if (via === undefined) return direct.join(" OR ")
  const [column, parent] = via
  const inner = `${alias}p`
  return [
    ...direct,
    `${alias}.${column} IN (SELECT ${inner}.id FROM ${parent} ${inner} WHERE ${conditionOf(parent, id, inner)})`
  ].join(" OR ")
}

const textArray = (names: ReadonlyArray<string>) => `'{${names.join(",")}}'::text[]`

/** Returns the SQL that leaves out columns with moderators, and in rows of others those with their authors. */
const withoutOthers = (table: string, id: bigint): string => {
  const { hidden = [], not = [] } = personalTables.get(table) ?? {}
  const staff = not.flatMap(([column, reason]) => reason === staffPart ? [column] : [])
  const authors = hidden.length === 0
    ? ""
    : ` - CASE WHEN t.account_id = ${id} THEN ${textArray([])} ELSE ${textArray(hidden)} END`
  return ` - ${textArray(staff)}${authors}`
}

const accountOf = Effect.fnUntraced(function*(session: Session.Session, handle: string) {
  const { server: { localDomain } } = yield* Environment
  const [name = "", domain] = handle.replace(/^@/, "").toLowerCase().split("@")
  const [row] = yield* session.rows(
    IdRow,
    "SELECT id FROM accounts WHERE lower(username) = $1 AND lower(domain) IS NOT DISTINCT FROM $2::text",
    [name, domain === localDomain ? null : domain ?? null]
  )
  return row === undefined ? yield* new OperatorError({ message: `There is no account ${handle} here` }) : row[0]
})

/**
 * Writes everything that the server knows about an account to `file`: a JSON object with the rows of each table, without
 * passwords, tokens and keys. Returns the number of rows. The account may be of another server (`name@host`).
 */
export const write = traced("PersonalExport.write")(function*(handle: string, file: string, connection: Connection) {
  const session = yield* Session.open(connection)
  yield* session.run("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
  const id = yield* accountOf(session, handle)
  const hidden = (yield* session.rows(
    NameRow,
    `SELECT DISTINCT column_name::text FROM information_schema.columns
      WHERE table_schema = current_schema() AND data_type = 'bytea'`
  )).map(([name]) => name)
  const left = textArray([...new Set([...hidden, ...secretColumns])])
  const exportedAt = new Date(yield* Clock.currentTimeMillis).toISOString()
  let rows = 0
  yield* NewFile.create(
    file,
    Effect.fnUntraced(function*(write) {
      const put = (text: string) => write(new TextEncoder().encode(text))
      yield* put(`{"account":${JSON.stringify(handle)},"exportedAt":"${exportedAt}","tables":{`)
      for (const [at, table] of [...personalTables.keys()].entries()) {
        yield* put(`${at === 0 ? "" : ","}\n${JSON.stringify(table)}:[`)
        let first = true
        const query = `SELECT (to_jsonb(t) - ${left}${withoutOthers(table, id)})::text FROM ${Session.quoted(table)} t
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
    })
  )
  return rows
}, Effect.scoped)
