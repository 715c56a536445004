import { PGlite, type PGliteOptions } from "@electric-sql/pglite"
import { Cause, Effect, Exit } from "effect"
import { Migrator } from "effect/sql"
import { createHash } from "node:crypto"
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { Database } from "./Databases.ts"
import { drive } from "./Drive.ts"
import * as Globals from "./Globals.ts"
import * as Performed from "./Performed.ts"
import { Dice } from "./Seeded.ts"
import { Session } from "./Session.ts"
import { VirtualTime } from "./VirtualTime.ts"
import { client, World } from "./World.ts"

/* The initial database is made once for all processes: initdb and migrations take longer than most runs. */

const at = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url))
const cache = at("node_modules/.cache")
const folder = at("migrations")
const migrations = readdirSync(folder).filter((name) => name.endsWith(".ts")).toSorted()
const { version }: { version: string } = JSON.parse(
  readFileSync(at("node_modules/@electric-sql/pglite/package.json"), "utf8")
)

/** A database that lives as long as its process needs no durability. */
const settings = {
  ["shared_buffers"]: "16MB",
  ["full_page_writes"]: "off",
  ["wal_level"]: "minimal",
  ["max_wal_senders"]: "0",
  ["synchronous_commit"]: "off",
  ["track_counts"]: "off",
  ["track_activities"]: "off"
}
const startParams = [
  ...PGlite.defaultStartParams,
  ...Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`])
]

/**
 * Settings of each session. Generic plans, because custom plans would depend on earlier executions. Libraries are
 * loaded early, because one loaded later would be lost at the end of a run.
 */
const opening = `SET plan_cache_mode = force_generic_plan; SET jit = off; LOAD 'plpgsql';
  SELECT ts_lexize('english_stem', 'birds')`

const started = async (files: Blob) => {
  const options: PGliteOptions = { loadDataDir: files, startParams }
  const pglite = await Globals.withoutTimersUntil(() => PGlite.create(options))
  // PGlite keeps its options, and this would be a second copy of all files.
  delete options.loadDataDir
  return pglite
}

/** Caches files of a database by kind; `hash` covers their inputs. */
const cachedDatabase = async (kind: string, hash: string, make: () => Promise<PGlite>) => {
  const name = `pglite-${kind}-${hash}.tar`
  if (!existsSync(`${cache}/${name}`)) {
    const database = await make()
    const files = await Globals.withoutTimersUntil(() => database.dumpDataDir("none"))
    const draft = `${cache}/${name}.${process.pid}`
    mkdirSync(cache, { recursive: true })
    writeFileSync(draft, new Uint8Array(await files.arrayBuffer()))
    await Globals.withoutTimersUntil(() => database.close())
    renameSync(draft, `${cache}/${name}`)
    const older = readdirSync(cache).filter((other) => other !== name && other.startsWith(`pglite-${kind}-`))
    for (const other of older.filter((one) => one.endsWith(".tar"))) rmSync(`${cache}/${other}`, { force: true })
  }
  return new Blob([readFileSync(`${cache}/${name}`)])
}

/** Deletes rows that migrations wrote, except for the roles. */
const empty = async (pglite: PGlite) => {
  const { rows } = await pglite.query<{ name: string }>(
    `SELECT quote_ident(relname) AS name FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'
      AND pg_relation_size(oid) > 0 AND relname NOT IN ('roles', 'effect_sql_migrations') ORDER BY relname`
  )
  const tables = rows.map(({ name }) => name).join(", ")
  await pglite.exec(`DEALLOCATE ALL; ${tables === "" ? "" : `TRUNCATE ${tables} RESTART IDENTITY CASCADE;`}
    ALTER SEQUENCE id_sequence RESTART`)
  await pglite.exec("CHECKPOINT")
}

const migrated = async () => {
  const pglite = await started(await cachedDatabase("fresh", version, () => PGlite.create()))
  const loader = Effect.succeed(
    migrations.map((name) =>
      [Number(name.slice(0, 4)), name.slice(5, -3), Effect.promise(() => import(`${folder}/${name}`))] as const
    )
  )
  const time = new VirtualTime(new Dice(0, "turns"))
  const session = new Session(new Database(pglite), time, new Dice(0, "session"))
  const { outside } = new World(session, time, 0, {}, "None")
  const main = Migrator.make({})({ loader }).pipe(Effect.provide(client(session, outside, 1)), Effect.scoped)
  const exit = await drive({ time, outside, isBusy: () => session.busy, main })
  if (Exit.isFailure(exit)) throw new Error(Cause.pretty(exit.cause))
  await Globals.withoutTimersUntil(() => pglite.exec(Performed.statement))
  await Globals.withoutTimersUntil(() => empty(pglite))
  return pglite
}

/** Returns a hash of the migrations and all other inputs of a migrated database. */
const recipe = () => {
  const hash = createHash("sha1").update(version).update(startParams.join()).update(Performed.statement)
  for (const name of migrations) hash.update(name).update(readFileSync(`${folder}/${name}`))
  return hash.update(readFileSync(fileURLToPath(import.meta.url))).digest("hex")
}

/** Opens a database that shares nothing with others. */
export const open = async () => {
  const pglite = await started(await cachedDatabase("migrated", recipe(), migrated))
  await Globals.withoutTimersUntil(() => pglite.exec(opening))
  return new Database(pglite)
}
