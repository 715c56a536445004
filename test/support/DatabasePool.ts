import { NodeCrypto } from "@effect/platform-node"
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import { inject } from "vitest"
import * as KeptSessions from "./KeptSessions.ts"
import { connection, template } from "./PostgresServer.ts"

/*
 * Databases with the schema and nothing else. To make one takes Postgres a thousand files, which cost a test file more
 * than its tests; so a process of tests empties those that it used, and uses them again.
 */

/** Bytes of a table from which on it is made small again, too, when it is emptied. */
const tableBytesMax = 1_048_576
/** Milliseconds that a session may take to end that a test left behind. */
const endMillisMax = 10_000

/** One session with a database. */
const within = (database: string) =>
  Effect.provide(
    Layer.suspend(() => PgClient.layer({ ...connection(inject("postgres"), database), maxConnections: 1 }))
  )

const query = (statement: string) =>
  Effect.flatMap(PgClient.PgClient, (sql) => sql.unsafe(statement)).pipe(within("postgres"), Effect.orDie)

/** What a test might change: the schema, which is not undone, and the rows that migrations wrote. Copies have the same oids. */
const fingerprint = (kept: ReadonlyArray<string>) =>
  `SELECT count(*) || ' ' || sum(hashtextextended(part, 0)) AS fingerprint FROM (
    SELECT relname || relkind::text || relchecks || coalesce(reloptions::text, '') AS part FROM pg_class
      WHERE relnamespace = 'public'::regnamespace
    UNION ALL SELECT attrelid || '.' || attname || atttypid || attnotnull || atthasdef FROM pg_attribute
      JOIN pg_class ON pg_class.oid = attrelid WHERE relnamespace = 'public'::regnamespace
    UNION ALL SELECT pg_get_triggerdef(oid) || tgenabled::text FROM pg_trigger WHERE NOT tgisinternal
    UNION ALL SELECT conrelid || '.' || conname || convalidated FROM pg_constraint
      WHERE connamespace = 'public'::regnamespace
    UNION ALL SELECT proname || prosrc FROM pg_proc WHERE pronamespace = 'public'::regnamespace
    UNION ALL SELECT coalesce(setconfig::text, '') FROM pg_db_role_setting
      WHERE setdatabase = (SELECT oid FROM pg_database WHERE datname = current_database())
    ${kept.map((table) => `UNION ALL SELECT '${table}' || t::text FROM ${table} t`).join("\n")}
  ) parts`

const tables = `SELECT relname AS name, pg_relation_size(oid) AS bytes FROM pg_class
  WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' AND pg_relation_size(oid) > 0`

/** Rows of a table as one text. */
const rowsIn = (table: string) => `SELECT coalesce(json_agg(t), '[]')::text AS rows FROM ${table} t`

/** Nothing but the rows that migrations wrote is left. */
const emptied = (filled: ReadonlyArray<string>, written: ReadonlyArray<readonly [table: string, rows: string]>) =>
  `DO $body$ BEGIN
    SET LOCAL session_replication_role = replica;
    ${filled.map((table) => `DELETE FROM "${table}";`).join("\n")}
    ${
    written.map(([table, rows]) =>
      `INSERT INTO "${table}" OVERRIDING SYSTEM VALUE
        SELECT * FROM json_populate_recordset(NULL::"${table}", $rows$${rows}$rows$);`
    ).join("\n")
  }
    PERFORM setval(seqrelid, seqstart, false) FROM pg_sequence;
  END $body$`

const free: Array<string> = []
/** The rows of tables that are filled in a new database, its fingerprint, and that of its schema alone. */
let pristine: {
  readonly written: ReadonlyArray<readonly [table: string, rows: string]>
  readonly schema: string | undefined
  readonly fingerprint: string | undefined
} | undefined

const unused = Effect.gen(function*() {
  const uuid = yield* (yield* SecureRandom.SecureRandom).uuidV4()
  return `test_${uuid.replaceAll("-", "")}`
}).pipe(Effect.provide(NodeCrypto.layer))

/** A database of the test's own, made anew from `from` (all of a `CREATE DATABASE` behind the name). */
export const create = Effect.fn("DatabasePool.create")(function*(from: string) {
  const name = yield* unused
  yield* query(`CREATE DATABASE ${name}${from}`)
  return name
})

export const drop = (name: string) =>
  Effect.andThen(KeptSessions.end(name), query(`DROP DATABASE ${name} WITH (FORCE)`))

const look = Effect.fnUntraced(function*(sql: PgClient.PgClient) {
  const kept = (yield* sql.unsafe<{ name: string }>(tables)).map(({ name }) => name)
  const written: Array<readonly [string, string]> = []
  for (const table of kept) {
    written.push([table, (yield* sql.unsafe<{ rows: string }>(rowsIn(table)))[0]?.rows ?? "[]"])
  }
  const [schema] = yield* sql.unsafe<{ fingerprint: string }>(fingerprint([]))
  const [all] = yield* sql.unsafe<{ fingerprint: string }>(fingerprint(kept))
  return { written, schema: schema?.fingerprint, fingerprint: all?.fingerprint }
})

/** A migrated database without rows. */
export const take = Effect.gen(function*() {
  const found = free.pop()
  if (found !== undefined) return found
  // A copy of its files costs less than one by the log.
  const name = yield* create(` TEMPLATE ${template} STRATEGY FILE_COPY`)
  yield* KeptSessions.keep(name)
  pristine ??= yield* Effect.flatMap(PgClient.PgClient, look).pipe(within(name), Effect.orDie)
  return name
})

/** Empties a database for the next who takes one; one whose schema was changed is dropped. */
export const giveBack = Effect.fn("DatabasePool.giveBack")(function*(name: string) {
  const usable = yield* Effect.gen(function*() {
    if (pristine === undefined) return false
    const sql = yield* PgClient.PgClient
    yield* sql.unsafe(`SELECT pg_terminate_backend(pid, ${endMillisMax}) FROM pg_stat_activity
      WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'
        AND NOT (application_name = '${KeptSessions.applicationName}' AND state = 'idle')`)
    const kept = pristine.written.map(([table]) => table)
    const [now] = yield* sql.unsafe<{ fingerprint: string }>(fingerprint(kept))
    const same = now?.fingerprint === pristine.fingerprint
    if (!same) {
      const [schema] = yield* sql.unsafe<{ fingerprint: string }>(fingerprint([]))
      if (schema?.fingerprint !== pristine.schema) return false
    }
    const filled = (yield* sql.unsafe<{ name: string; bytes: bigint }>(tables)).filter(({ name }) =>
      !same || !kept.includes(name)
    )
    yield* sql.unsafe(emptied(filled.map(({ name }) => name), same ? [] : pristine.written))
    const large = filled.filter(({ bytes }) => bytes > tableBytesMax).map(({ name }) => `"${name}"`)
    if (large.length > 0) yield* sql.unsafe(`VACUUM ${large.join(", ")}`)
    // Plans are made as if nobody had looked at the tables, whoever has: Postgres does by itself.
    yield* sql.unsafe("DELETE FROM pg_statistic WHERE starelid::bigint >= 16384")
    yield* sql.unsafe(`SELECT pg_clear_relation_stats('public', relname) FROM pg_class
      WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' AND reltuples >= 0`)
    return true
  }).pipe(within(name), Effect.orElseSucceed(() => false))
  if (usable) free.push(name)
  else yield* drop(name)
})
