import { NodeCrypto } from "@effect/platform-node"
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import { inject } from "vitest"
import * as KeptSessions from "./KeptSessions.ts"
import { connection, template } from "./PostgresServer.ts"

/*
 * Pool of databases that hold only the schema. Creating one costs Postgres a thousand files, more than most test files
 * cost. So each test process empties its databases and reuses them.
 */

/** Table size in bytes above which emptying also shrinks the table. */
const tableBytesMax = 1_048_576
/** Milliseconds that a session left behind by a test may take to end. */
const endMillisMax = 10_000

/** Runs an effect in one session with a database. */
const within = (database: string) =>
  Effect.provide(
    Layer.suspend(() => PgClient.layer({ ...connection(inject("postgres"), database), maxConnections: 1 }))
  )

const query = (statement: string) =>
  Effect.flatMap(PgClient.PgClient, (sql) => sql.unsafe(statement)).pipe(within("postgres"), Effect.orDie)

/**
 * Fingerprint of what a test might change: the schema, which is not restored, and rows written by migrations. Copies
 * have the same oids.
 */
const fingerprint = (tableNames: ReadonlyArray<string>) =>
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
    ${tableNames.map((table) => `UNION ALL SELECT '${table}' || t::text FROM ${table} t`).join("\n")}
  ) parts`

const tables = `SELECT relname AS name, pg_relation_size(oid) AS bytes FROM pg_class
  WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' AND pg_relation_size(oid) > 0`

/** Selects the rows of a table as one text. */
const rowsIn = (table: string) => `SELECT coalesce(json_agg(t), '[]')::text AS rows FROM ${table} t`

/** Deletes all rows but those that migrations wrote. */
const emptyTables = (filled: ReadonlyArray<string>, written: ReadonlyArray<readonly [table: string, rows: string]>) =>
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
/** Rows of the tables that are filled in a new database, its fingerprint, and the fingerprint of its schema alone. */
let pristine: {
  readonly written: ReadonlyArray<readonly [table: string, rows: string]>
  readonly schema: string | undefined
  readonly fingerprint: string | undefined
} | undefined

const unused = Effect.gen(function*() {
  const uuid = yield* (yield* SecureRandom.SecureRandom).uuidV4()
  return `test_${uuid.replaceAll("-", "")}`
}).pipe(Effect.provide(NodeCrypto.layer))

/** Creates a database for the test. `from` is the rest of `CREATE DATABASE` after the name. */
export const create = Effect.fn("DatabasePool.create")(function*(from: string) {
  const name = yield* unused
  yield* query(`CREATE DATABASE ${name}${from}`)
  return name
})

export const drop = (name: string) =>
  Effect.andThen(KeptSessions.end(name), query(`DROP DATABASE ${name} WITH (FORCE)`))

const look = Effect.fnUntraced(function*(sql: PgClient.PgClient) {
  const tableNames = (yield* sql.unsafe<{ name: string }>(tables)).map(({ name }) => name)
  const written: Array<readonly [string, string]> = []
  for (const table of tableNames) {
    written.push([table, (yield* sql.unsafe<{ rows: string }>(rowsIn(table)))[0]?.rows ?? "[]"])
  }
  const [schema] = yield* sql.unsafe<{ fingerprint: string }>(fingerprint([]))
  const [all] = yield* sql.unsafe<{ fingerprint: string }>(fingerprint(tableNames))
  return { written, schema: schema?.fingerprint, fingerprint: all?.fingerprint }
})

/** Takes a migrated database without rows from the pool. */
export const take = Effect.gen(function*() {
  const found = free.pop()
  if (found !== undefined) return found
  // Copying files is cheaper than copying through the WAL.
  const name = yield* create(` TEMPLATE ${template} STRATEGY FILE_COPY`)
  yield* KeptSessions.keep(name)
  pristine ??= yield* Effect.flatMap(PgClient.PgClient, look).pipe(within(name), Effect.orDie)
  return name
})

/** Empties a database for its next user; drops it if its schema was changed. */
export const giveBack = Effect.fn("DatabasePool.giveBack")(function*(name: string) {
  const usable = yield* Effect.gen(function*() {
    if (pristine === undefined) return false
    const sql = yield* PgClient.PgClient
    yield* sql.unsafe(`SELECT pg_terminate_backend(pid, ${endMillisMax}) FROM pg_stat_activity
      WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'
        AND NOT (application_name = '${KeptSessions.applicationName}' AND state = 'idle')`)
    const tableNames = pristine.written.map(([table]) => table)
    const [now] = yield* sql.unsafe<{ fingerprint: string }>(fingerprint(tableNames))
    const same = now?.fingerprint === pristine.fingerprint
    if (!same) {
      const [schema] = yield* sql.unsafe<{ fingerprint: string }>(fingerprint([]))
      if (schema?.fingerprint !== pristine.schema) return false
    }
    const filled = (yield* sql.unsafe<{ name: string; bytes: bigint }>(tables)).filter(({ name }) =>
      !same || !tableNames.includes(name)
    )
    yield* sql.unsafe(emptyTables(filled.map(({ name }) => name), same ? [] : pristine.written))
    const large = filled.filter(({ bytes }) => bytes > tableBytesMax).map(({ name }) => `"${name}"`)
    if (large.length > 0) yield* sql.unsafe(`VACUUM ${large.join(", ")}`)
    // Drops planner statistics: plans must not depend on what Postgres analysed during other tests.
    yield* sql.unsafe("DELETE FROM pg_statistic WHERE starelid::bigint >= 16384")
    yield* sql.unsafe(`SELECT pg_clear_relation_stats('public', relname) FROM pg_class
      WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' AND reltuples >= 0`)
    return true
  }).pipe(within(name), Effect.orElseSucceed(() => false))
  if (usable) free.push(name)
  else yield* drop(name)
})
