import { PGlite } from "@electric-sql/pglite"
import { Effect } from "effect"
import { Migrator } from "effect/sql"
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs"
import { drive } from "./Drive.ts"
import * as Globals from "./Globals.ts"
import * as Performed from "./Performed.ts"
import { Dice } from "./Seeded.ts"
import { Session } from "./Session.ts"
import { Snapshot } from "./Snapshot.ts"
import { VirtualTime } from "./VirtualTime.ts"
import * as Wire from "./Wire.ts"
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

/** A database of a process of simulations: one session, in which each run finds what the first one found. */
export class Database {
  private readonly pglite: PGlite
  /** Statements that are prepared and planned where a run begins, by their texts and the types of what they take. */
  private readonly prepared = new Map<string, string>()
  private latest: Wire.Statements | undefined
  private snapshot: Snapshot | undefined
  private libraries = ""

  constructor(pglite: PGlite) {
    this.pglite = pglite
  }

  /** Postgres' answer, in bytes only: what is asked without a receiver PGlite parses as well, and keeps. */
  ask(chunk: Buffer): Buffer {
    if (chunk[0] === 0) return Buffer.from(this.pglite.execProtocolRawSync(new Uint8Array(chunk)))
    const parts: Array<Buffer> = []
    const onRawData = (part: Uint8Array) => void parts.push(Buffer.from(part))
    // It is done when this returns; the promise only tells of what failed.
    this.pglite.execProtocolRawStream(new Uint8Array(chunk), { syncToFs: false, onRawData }).catch(this.failed)
    return Buffer.concat(parts)
  }

  /** Called with what is wrong with the database itself. */
  failed: (cause: unknown) => void = () => {}

  /** The statements of a run; `change` puts another text in the place of each one's. */
  statements(change?: (text: string) => string) {
    const statements = new Wire.Statements(change, this.prepared)
    this.latest = change === undefined ? statements : undefined
    return statements
  }

  /** Leaves nothing of the run before, but that what it prepared needs no plan any more. */
  empty() {
    Globals.withoutTimers(() => {
      const { snapshot } = this
      const fresh = snapshot === undefined ? [] : [...this.latest?.keys ?? []].filter((key) => !this.prepared.has(key))
      this.latest = undefined
      if (snapshot === undefined) {
        this.snapshot = new Snapshot(this.pglite)
        this.libraries = this.loaded()
        return
      }
      const libraries = this.loaded()
      if (libraries !== this.libraries) throw new Error(`a run loads one of ${libraries}, which has to be there before`)
      snapshot.restore()
      for (const key of fresh) this.prepare(key)
      if (fresh.length > 0) snapshot.take()
    })
  }

  /** What Postgres has of libraries, which are in this process beside its memory. */
  private loaded() {
    const answer = this.ask(
      Wire.simpleQuery("ROLLBACK; SELECT string_agg(file_name, ' ') FROM pg_get_loaded_modules()")
    )
    return Wire.rows(answer).flat().join()
  }

  private prepare(key: string) {
    const name = `p${this.prepared.size}`
    const described = this.ask(Wire.describing(name, key))
    const answer = this.ask(Wire.binding(name, Wire.parametersOf(described)))
    if (Wire.hasError(described) || Wire.hasError(answer)) throw new Error(`${key}: ${answer.toString("latin1")}`)
    this.prepared.set(key, name)
  }
}

/** What lives as long as a process needs nothing that survives it. */
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

/** Opens one; no other has anything of it. */
export const open = async () => {
  const loadDataDir = await image()
  const pglite = await Globals.withoutTimersUntil(() => PGlite.create({ loadDataDir, startParams }))
  const database = new Database(pglite)
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
  const statements = `${Performed.statement}; SET plan_cache_mode = force_generic_plan; SET jit = off`
  await Globals.withoutTimersUntil(() => pglite.exec(statements))
  await Globals.withoutTimersUntil(() => emptied(pglite))
  return database
}

/** Takes away what migrations wrote, but for the roles. */
const emptied = async (pglite: PGlite) => {
  const { rows } = await pglite.query<{ name: string }>(
    `SELECT quote_ident(relname) AS name FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'
      AND pg_relation_size(oid) > 0 AND relname NOT IN ('roles', 'effect_sql_migrations') ORDER BY relname`
  )
  const tables = rows.map(({ name }) => name).join(", ")
  await pglite.exec(`DEALLOCATE ALL; ${tables === "" ? "" : `TRUNCATE ${tables} RESTART IDENTITY CASCADE;`}
    ALTER SEQUENCE id_sequence RESTART`)
  // A library that came later would be lost at the end of a run.
  await pglite.exec("SELECT ts_lexize('english_stem', 'birds')")
  await pglite.exec("CHECKPOINT")
}
