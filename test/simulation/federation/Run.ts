import { Cause, Effect, Exit } from "effect"
import { SqlClient } from "effect/sql"
import { createHash } from "node:crypto"
import { person } from "../../support/People.ts"
import type * as Databases from "../Databases.ts"
import { cpuMillis, drive } from "../Drive.ts"
import { counters, owners } from "../Invariants.ts"
import type { Performed } from "../Performed.ts"
import { Dice } from "../Seeded.ts"
import type { Options, Result } from "../Simulation.ts"
import { VirtualTime } from "../VirtualTime.ts"
import * as Agreement from "./Agreement.ts"
import * as Clients from "./Clients.ts"
import * as FaultPlan from "./FaultPlan.ts"
import * as Faults from "./Faults.ts"
import * as FinalScenario from "./FinalScenario.ts"
import * as ServerStates from "./ServerStates.ts"
import * as SimulatedInstance from "./SimulatedInstance.ts"
import * as Traffic from "./Traffic.ts"
import { type Mutation, Universe } from "./Universe.ts"

export interface Settings extends Omit<Options, "mutation"> {
  readonly mutation: Mutation
}

/** Maximum servers of a run, and its number of commands. */
export const sitesMax = 3
export const commandsStandard = 48

/** Bounds of the rest until all work is done: virtual milliseconds, and polls. */
const drainMillisMax = 4 * 24 * 3_600_000
const pollsMax = 2_000
/** Milliseconds between two polls. */
const pollMillis = 500
/** Work that is due later than this is reached by moving the clocks forward, in milliseconds. */
const soonMillis = 3_000

/**
 * Counts a server's work that is due soon, and returns when the next work is due; a delivery queued behind another does
 * not count.
 */
const pendingWork = Effect.fnUntraced(function*({ sql }: SimulatedInstance.SimulatedServer, now: number) {
  const [row] = yield* sql<{ soon: number; next: Date | null }>`
    WITH due AS (SELECT due_at FROM deliveries d WHERE NOT EXISTS (SELECT FROM deliveries e
        WHERE e.inbox_id = d.inbox_id AND e.about = d.about AND e.activity_id < d.activity_id) UNION ALL SELECT due_at FROM errands UNION ALL SELECT due_at FROM agenda
      UNION ALL SELECT due_at FROM inbound_activities WHERE outcome IS NULL)
    SELECT (SELECT count(*) FROM fanouts)::int + (SELECT count(*) FROM due WHERE due_at <= ${new Date(
    now + soonMillis
  )})::int
      AS soon, (SELECT min(due_at) FROM due) AS next`
  return { soon: row?.soon ?? 0, next: row?.next?.getTime() }
})

/** Waits until all work is done; moves the clocks forward if all work is due later. */
const drain = Effect.fnUntraced(function*({ sites, time, web }: Universe) {
  const began = time.now
  let quiet = 0
  for (let poll = 0; poll < pollsMax && time.now - began < drainMillisMax; poll++) {
    yield* Effect.sleep(pollMillis)
    const left = yield* Effect.forEach(sites, (site) => pendingWork(site, time.now))
    const isQuiet = !web.isBusy && left.every(({ soon }) => soon === 0)
    quiet = isQuiet ? quiet + 1 : 0
    if (quiet < 3) continue
    const next = Math.min(...left.map(({ next }) => next ?? Infinity))
    if (next === Infinity) return
    time.skip(next - time.now - soonMillis / 2)
    quiet = 0
  }
})

const upTo = (count: number) => Array.from({ length: count }, (_, n) => n)

/** Makes everybody follow some others, without faults; returns the follows that both servers know. */
const followOthers = Effect.fnUntraced(
  function*(universe: Universe, users: ReadonlyArray<Clients.User>, clients: ReturnType<typeof Clients.make>) {
    const dice = new Dice(universe.seed, "prelude")
    const pairs = users.flatMap((by) =>
      users.filter((other) => other !== by && !other.locked && dice.chance(0.45)).map((other) => [by, other] as const)
    )
    yield* Effect.forEach(pairs, ([by, other], n) => clients.follow(1_000 + n, by, other), {
      concurrency: 4,
      discard: true
    })
    yield* drain(universe)
    const states = yield* Effect.forEach(universe.sites, ServerStates.load)
    const followed = pairs.map(([by, other]) => `${by.handle} ${other.handle}`)
    const unknown = followed.filter((pair) =>
      states.some(({ follows, host }) =>
        pair.split(" ").some((handle) => handle.endsWith(`@${host}`)) && !follows.has(pair)
      )
    )
    if (unknown.length > 0) universe.wrong.push(`I7: without faults, ${unknown} is not known to both`)
    return new Set(followed)
  }
)

const scenario = Effect.fnUntraced(
  function*(universe: Universe, databases: ReadonlyArray<Databases.Database>, options: Settings) {
    const dice = new Dice(universe.seed, "scenario")
    const sites = dice.chance(0.4) ? sitesMax : 2
    for (const [n, database] of databases.slice(0, sites).entries()) {
      universe.sites.push(yield* SimulatedInstance.make(universe, database, `${"abc"[n]}.test`))
    }
    const users: Array<Clients.User> = []
    for (const site of universe.sites) {
      for (const n of upTo(2)) {
        const name = `${site.host[0]}${n}`
        const locked = n === 1 && dice.chance(0.2)
        const id = yield* person(name, { locked }).pipe(Effect.provideService(SqlClient.SqlClient, site.sql))
        users.push({ site, id, name, handle: `${name}@${site.host}`, locked })
      }
    }
    yield* Effect.forEach(universe.sites, (site) => SimulatedInstance.start(universe, site), {
      concurrency: "unbounded"
    })
    yield* Effect.sleep("2 seconds")
    const clients = Clients.make(universe, users)
    const followed = yield* followOthers(universe, users, clients)
    const requestsBefore = universe.web.exchanges.length
    const planned = FaultPlan.plan(universe.seed, sites).filter((_, n) => options.faults.includes(n))
    const faultsOver = yield* Faults.injectFaults(universe, planned)
    yield* Effect.forEach(options.commands, clients.send, { concurrency: "unbounded", discard: true })
    yield* faultsOver
    yield* drain(universe)
    const states = yield* Effect.forEach(universe.sites, ServerStates.load)
    const aftermath = { states, users, sentCommands: clients.sentCommands, followed }
    const count = (kind: string) => universe.counts.get(kind) ?? 0
    const crashes = count("crash") + count("cut") + count("freeze")
    universe.counts.set("requests", universe.web.exchanges.length - requestsBefore)
    const broken = [
      ...universe.wrong,
      ...states.flatMap(({ host, waiting }) => waiting.map(({ what }) => `I16: ${what} is left at ${host}`)),
      ...Agreement.check(aftermath),
      ...Traffic.check(aftermath, universe.web.exchanges, crashes),
      ...(yield* Effect.forEach(
        universe.sites,
        ({ host, sql }) =>
          Effect.gen(function*() {
            const performed = yield* sql<Performed>`SELECT * FROM performed ORDER BY seq`
            const found = [...(yield* counters(sql)), ...(yield* owners(sql, performed))]
            return found.map((text) => `${text} at ${host}`)
          })
      )).flat()
    ]
    return [...broken, ...(yield* FinalScenario.run(universe, users, clients, drain(universe)))]
  },
  Effect.scoped
)

/** Runs one seed with one database per possible server: the same seed and options give the same result. */
export const run = async (
  databases: ReadonlyArray<Databases.Database>,
  seed: number,
  options: Settings
): Promise<Result> => {
  const began = cpuMillis()
  for (const database of databases) database.empty()
  const time = new VirtualTime(new Dice(seed, "turns"))
  const universe = new Universe(time, seed, options.mutation, options.logs ? "Debug" : "None")
  const { outside, sites, web } = universe
  const isBusy = () => sites.some(({ session }) => session.busy)
  const exit = await drive({ time, outside, isBusy, main: scenario(universe, databases, options) })
  const hash = createHash("sha1").update(web.trace.digest()).update(universe.log.join("\n"))
  for (const { session } of sites) hash.update(session.trace.digest())
  return {
    seed,
    broken: Exit.isSuccess(exit) ? exit.value : [Cause.pretty(exit.cause)],
    hash: hash.digest("hex"),
    log: universe.log,
    counts: Object.fromEntries(universe.counts),
    virtualMillis: time.elapsed,
    cpuMillis: cpuMillis() - began
  }
}
