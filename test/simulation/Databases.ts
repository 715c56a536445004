import { PGlite } from "@electric-sql/pglite"
import { Effect } from "effect"
import { Migrator } from "effect/sql"
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs"
import { drive } from "./Drive.ts"
import * as Globals from "./Globals.ts"
import * as Performed from "./Performed.ts"
import { Dice } from "./Seeded.ts"
import { Session } from "./Session.ts"
import { VirtualTime } from "./VirtualTime.ts"
import { client, World } from "./World.ts"

const cache = new URL("../../node_modules/.cache/", import.meta.url)
const { version }: { version: string } = JSON.parse(
  readFileSync(new URL("../../node_modules/@electric-sql/pglite/package.json", import.meta.url), "utf8")
)

/** A cluster of databases as `initdb` leaves it, made once for all processes: that takes three times as long as to start one. */
const image = async () => {
  const file = new URL(`pglite-${version}.tar`, cache)
  if (!existsSync(file)) {
    const fresh = await PGlite.create()
    const draft = new URL(`pglite-${version}.${process.pid}.tar`, cache)
    mkdirSync(cache, { recursive: true })
    writeFileSync(draft, new Uint8Array(await (await fresh.dumpDataDir("none")).arrayBuffer()))
    await fresh.close()
    renameSync(draft, file)
  }
  return new Blob([readFileSync(file)])
}

/** A database of a process of simulations: one session, whose tables each run empties. */
export const open = async () => {
  const loadDataDir = await image()
  const database = await Globals.withoutTimersUntil(() => PGlite.create({ loadDataDir }))
  const folder = new URL("../../migrations/", import.meta.url)
  const loader = Effect.succeed(
    readdirSync(folder).filter((name) => name.endsWith(".ts")).toSorted().map((name) =>
      [Number(name.slice(0, 4)), name.slice(5, -3), Effect.promise(() => import(new URL(name, folder).href))] as const
    )
  )
  const time = new VirtualTime(new Dice(0, "turns"))
  const session = new Session(database, time, new Dice(0, "session"))
  const { outside } = new World(session, time, 0, {}, "None")
  const main = Migrator.make({})({ loader }).pipe(Effect.provide(client(session, outside, 1)), Effect.scoped)
  await drive({ time, outside, isBusy: () => session.busy, main })
  // One plan for each statement, made once: plans by parameters would depend on how often it ran before.
  const settings = `${Performed.statement}; SET plan_cache_mode = force_generic_plan; SET jit = off`
  await Globals.withoutTimersUntil(() => database.exec(settings))
  return database
}

/** Leaves nothing of the run before in the tables. */
export const empty = (database: PGlite) => Globals.withoutTimersUntil(() => emptied(database))

const emptied = async (database: PGlite) => {
  const { rows } = await database.query<{ name: string }>(
    `SELECT quote_ident(relname) AS name FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'
      AND pg_relation_size(oid) > 0 AND relname NOT IN ('roles', 'effect_sql_migrations') ORDER BY relname`
  )
  const tables = rows.map(({ name }) => name).join(", ")
  await database.exec(`DEALLOCATE ALL; ${tables === "" ? "" : `TRUNCATE ${tables} RESTART IDENTITY CASCADE;`}
    ALTER SEQUENCE id_sequence RESTART`)
  // Nobody else makes one, and until then there are the files of what was emptied, and a longer and longer log.
  await database.exec("CHECKPOINT")
}
