import { NodeCrypto } from "@effect/platform-node"
import { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import { SecureRandom } from "effect/crypto"
import { inject } from "vitest"
import { type Address, connection, template } from "./PostgresServer.ts"

/*
 * Databases with the schema and nothing else. To make one takes Postgres a thousand files, which cost a test file more
 * than its tests; so a process of tests empties those that it used, and uses them again.
 */

/** Bytes of a table from which a database is dropped rather than emptied. */
const tableBytesMax = 4 * 1_048_576
/** Milliseconds that a session may take to end that a test left behind. */
const endMillisMax = 10_000

const query = (address: Address, database: string) => (statement: string) =>
  Effect.flatMap(PgClient.PgClient, (sql) => sql.unsafe<Record<string, string>>(statement)).pipe(
    Effect.provide(PgClient.layer({ ...connection(address, database), maxConnections: 1 })),
    Effect.orDie
  )

/** What a test might change and what is not undone: the schema, and the rows that migrations wrote. */
const fingerprint = (kept: ReadonlyArray<string>) =>
  `SELECT md5(string_agg(part, ';' ORDER BY part)) AS fingerprint FROM (
    SELECT relname || relkind::text || relchecks || reloptions::text AS part FROM pg_class
      WHERE relnamespace = 'public'::regnamespace
    UNION ALL SELECT attrelid::regclass || '.' || attname || atttypid || attnotnull || atthasdef FROM pg_attribute
      JOIN pg_class ON pg_class.oid = attrelid WHERE relnamespace = 'public'::regnamespace
    UNION ALL SELECT pg_get_triggerdef(oid) || tgenabled::text FROM pg_trigger WHERE NOT tgisinternal
    UNION ALL SELECT conrelid::regclass || conname || convalidated FROM pg_constraint
      WHERE connamespace = 'public'::regnamespace
    UNION ALL SELECT proname || prosrc FROM pg_proc WHERE pronamespace = 'public'::regnamespace
    UNION ALL SELECT setconfig::text FROM pg_db_role_setting
      WHERE setdatabase = (SELECT oid FROM pg_database WHERE datname = current_database())
    ${kept.map((table) => `UNION ALL SELECT '${table}' || t::text FROM ${table} t`).join("\n")}
  ) parts`

const tables = `SELECT relname AS name, pg_relation_size(oid) AS bytes FROM pg_class
  WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' AND pg_relation_size(oid) > 0`

const emptied = (filled: ReadonlyArray<string>) =>
  `DO $$ BEGIN
    SET LOCAL session_replication_role = replica;
    ${filled.map((table) => `DELETE FROM "${table}";`).join("\n")}
    PERFORM setval(seqrelid, seqstart, false) FROM pg_sequence;
  END $$`

const free: Array<string> = []
/** The tables that are filled in a new database, and its fingerprint. */
let pristine: { readonly kept: ReadonlyArray<string>; readonly fingerprint: string | undefined } | undefined

const unused = Effect.gen(function*() {
  const uuid = yield* (yield* SecureRandom.SecureRandom).uuidV4()
  return `test_${uuid.replaceAll("-", "")}`
}).pipe(Effect.provide(NodeCrypto.layer))

/** A database of the test's own, made anew from `from` (all of a `CREATE DATABASE` behind the name). */
export const create = Effect.fn("DatabasePool.create")(function*(from: string) {
  const name = yield* unused
  yield* query(inject("postgres"), "postgres")(`CREATE DATABASE ${name}${from}`)
  return name
})

export const drop = (name: string) => query(inject("postgres"), "postgres")(`DROP DATABASE ${name} WITH (FORCE)`)

/** A migrated database without rows. */
export const take = Effect.gen(function*() {
  const found = free.pop()
  if (found !== undefined) return found
  const name = yield* create(` TEMPLATE ${template}`)
  if (pristine === undefined) {
    const ask = query(inject("postgres"), name)
    const kept = (yield* ask(tables)).map(({ name }) => name ?? "")
    pristine = { kept, fingerprint: (yield* ask(fingerprint(kept)))[0]?.["fingerprint"] }
  }
  return name
})

/** Empties a database for the next who takes one; what was changed beyond its rows is dropped. */
export const giveBack = Effect.fn("DatabasePool.giveBack")(function*(name: string) {
  const kept = pristine?.kept ?? []
  const usable = yield* Effect.gen(function*() {
    const sql = yield* PgClient.PgClient
    yield* sql.unsafe(`SELECT pg_terminate_backend(pid, ${endMillisMax}) FROM pg_stat_activity
      WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'`)
    const filled = (yield* sql.unsafe<{ name: string; bytes: string }>(tables)).filter(({ name }) =>
      !kept.includes(name)
    )
    if (filled.some(({ bytes }) => Number(bytes) > tableBytesMax)) return false
    const [found] = yield* sql.unsafe<{ fingerprint: string }>(fingerprint(kept))
    if (found?.fingerprint !== pristine?.fingerprint) return false
    yield* sql.unsafe(emptied(filled.map(({ name }) => name)))
    return true
  }).pipe(
    Effect.provide(PgClient.layer({ ...connection(inject("postgres"), name), maxConnections: 1 })),
    Effect.orElseSucceed(() => false)
  )
  if (usable) free.push(name)
  else yield* drop(name)
})
