import { PGlite } from "@electric-sql/pglite"
import { Cause, Clock, Effect, Exit, Fiber, Random, References, Scheduler } from "effect"
import { Migrator, SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { createHash } from "node:crypto"
import { readdirSync } from "node:fs"
import { followers, person } from "../support/People.ts"
import * as Invariants from "./Invariants.ts"
import * as Scenario from "./Scenario.ts"
import { generator, scheduler } from "./Seeded.ts"
import { type Fault, Session } from "./Session.ts"
import * as World from "./World.ts"

export interface Options {
  readonly commands: number
  readonly faults: boolean
  readonly mutation: World.Mutation
  /** Prints the program's log. */
  readonly logs: boolean
}

export const standard: Options = { commands: 40, faults: true, mutation: {}, logs: false }

export interface Result {
  readonly seed: number
  /** What was broken at rest; empty for a good run. */
  readonly broken: ReadonlyArray<string>
  /** SHA-1 of everything that happened, in order. */
  readonly hash: string
  /** What the run did to the nodes. */
  readonly faults: ReadonlyArray<string>
  readonly virtualMillis: number
  readonly answered: number
}

/** The database of a process of simulations: one session, whose tables each run empties. */
export const open = async () => {
  const database = new PGlite()
  await database.waitReady
  const folder = new URL("../../migrations/", import.meta.url)
  const session = new Session(database)
  const peer = { name: "migrator", dead: false, frozenUntil: 0, crash: () => {} }
  const loader = Effect.succeed(
    readdirSync(folder).filter((name) => name.endsWith(".ts")).toSorted().map((name) =>
      [Number(name.slice(0, 4)), name.slice(5, -3), Effect.promise(() => import(new URL(name, folder).href))] as const
    )
  )
  await Migrator.make({})({ loader }).pipe(
    Effect.provide(World.client(session, peer, 1)),
    Effect.scoped,
    Effect.runPromise
  )
  return database
}

const empty = async (database: PGlite) => {
  const { rows } = await database.query<{ name: string }>(
    `SELECT quote_ident(tablename) AS name FROM pg_tables WHERE schemaname = 'public' AND tablename NOT IN ('roles', 'effect_sql_migrations')`
  )
  await database.exec(`TRUNCATE ${rows.map(({ name }) => name).join(", ")}; ALTER SEQUENCE id_sequence RESTART`)
}

const startMillis = 1_700_000_000_000
const stepMillis = 5
/** Turns of the driver after which a run counts as stuck. */
const turnsMax = 24_000

/** Faults are drawn per run: crashes at a message of a node, refusals of the database, broken connections, a freeze. */
const chaos = (world: World.World, session: Session, nodes: Array<World.Node>, random: () => number, log: Array<string>) => {
  const kind = Math.floor(random() * 5)
  const victim = nodes[Math.floor(random() * nodes.length)]!
  const at = session.count(victim.name) + 5 + Math.floor(random() * 250)
  const side: Fault = random() < 0.5 ? "before" : "after"
  const refuseFrom = random() * 6000
  session.onMessage = (peer, nth): Fault => {
    if ((kind === 0 || kind === 4) && peer === victim.peer && nth === at) {
      log.push(`kill -9 of ${peer.name} ${side} its message ${nth}`)
      return side
    }
    const since = session.now() - startMillis - refuseFrom
    return kind === 1 && since > 5000 && since < 7000 && peer.name !== "observer" ? "refuse" : undefined
  }
  return Effect.gen(function*() {
    yield* Effect.sleep(1000 + Math.floor(random() * 4000))
    if (kind === 2 || kind === 4) {
      log.push(`connections to ${victim.name} break`)
      yield* world.network.breakConnections(victim.address)
    }
    if (kind === 3) {
      const millis = 3000 + Math.floor(random() * 12_000)
      log.push(`${victim.name} stands still for ${millis} ms`)
      yield* victim.freeze(millis)
    }
    if (kind === 0 && random() < 0.5) {
      yield* Effect.sleep(8000)
      log.push("a new node joins")
      nodes.push(yield* world.start("d", 4))
    }
  })
}

const scenario = Effect.fnUntraced(function*(session: Session, random: () => number, options: Options, faults: Array<string>) {
  const world = yield* World.make(session, options.mutation)
  const began = yield* Clock.currentTimeMillis
  const people = yield* Effect.forEach([0, 1, 2, 3, 4, 5], (n) => person(`p${n}`)).pipe(
    Effect.provideService(SqlClient.SqlClient, world.sql)
  )
  yield* Effect.forEach(people.slice(0, 3), (target, n) => followers(target, people.filter((_, m) => m !== n && (m + n) % 2 === 0)))
    .pipe(Effect.provideService(SqlClient.SqlClient, world.sql))
  yield* Effect.forEach(people, (reader) => world.feeds.fill(reader, []))
  const nodes = [yield* world.start("a", 1), yield* world.start("b", 2), yield* world.start("c", 3)]
  yield* Effect.sleep("4 seconds")
  const clients = Scenario.make(people, () => nodes.filter(({ peer }) => !peer.dead))
  const trouble = options.faults
    ? yield* Effect.forkChild(chaos(world, session, nodes, random, faults))
    : undefined
  yield* Effect.forEach(Array.from({ length: options.commands }, (_, n) => n), clients.send, {
    concurrency: "unbounded",
    discard: true
  })
  if (trouble !== undefined) yield* Fiber.join(trouble)
  session.onMessage = () => undefined
  // Rest: long enough for leases to end, for the agenda to find what was left behind and for every timed mute.
  yield* Effect.sleep("25 seconds")
  const broken = yield* Invariants.check(world, people, clients.outcomes)
  const answered = clients.outcomes.filter(({ result }) => result !== "unknown").length
  const happened = [...session.trace, ...world.network.log, ...clients.outcomes.map(({ key, result }) =>
    `${key} ${JSON.stringify(result)}`)]
  return {
    broken,
    answered,
    hash: createHash("sha1").update(happened.join("\n")).digest("hex"),
    virtualMillis: (yield* Clock.currentTimeMillis) - began
  }
})

/** Runs one seed: the same seed and options give the same result, the hash of everything that happened included. */
export const run = async (database: PGlite, seed: number, options: Options = standard): Promise<Result> => {
  await empty(database)
  const random = generator(seed)
  const session = new Session(database)
  const faults: Array<string> = []
  const main = Effect.gen(function*() {
    yield* TestClock.setTime(startMillis)
    let now = startMillis
    session.now = () => now
    const fiber = yield* Effect.forkChild(Effect.scoped(scenario(session, random, options, faults)))
    const turn = () => new Promise<void>((resume) => setImmediate(resume))
    for (let turns = 0; fiber.pollUnsafe() === undefined; turns++) {
      if (turns > turnsMax) return yield* Effect.die(new Error(`seed ${seed} is stuck`))
      yield* TestClock.adjust(stepMillis)
      now += stepMillis
      session.thaw()
      do yield* Effect.promise(turn)
      while (session.pending > 0)
    }
    return yield* Fiber.join(fiber)
  })
  const exit = await main.pipe(
    Effect.provide(TestClock.layer()),
    Effect.provideService(Scheduler.Scheduler, scheduler(random)),
    Effect.provideService(References.MinimumLogLevel, options.logs ? "Debug" : "None"),
    Random.withSeed(seed),
    Effect.runPromiseExit
  )
  return Exit.isSuccess(exit)
    ? { seed, faults, ...exit.value }
    : { seed, faults, broken: [Cause.pretty(exit.cause)], hash: "", virtualMillis: 0, answered: 0 }
}

/** The smallest number of commands with which the seed still fails: the shortest trace of the bug. */
export const shrink = async (database: PGlite, failed: Result, options: Options): Promise<Result & { readonly commands: number }> => {
  let best = { ...failed, commands: options.commands }
  for (let size = Math.ceil(best.commands / 2); size >= 1 && size < best.commands;) {
    const smaller = await run(database, failed.seed, { ...options, commands: size })
    if (smaller.broken.length > 0) {
      best = { ...smaller, commands: size }
      size = Math.floor(size / 2)
    } else size = Math.ceil((size + best.commands) / 2)
  }
  return best
}
