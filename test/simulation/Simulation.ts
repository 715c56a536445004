import { Cause, Effect, Exit, Fiber } from "effect"
import { SqlClient } from "effect/sql"
import { createHash } from "node:crypto"
import { type FeedKey, listFeed } from "../../src/services/feeds/Feeds.ts"
import { followers, person } from "../support/People.ts"
import type { Backends } from "./Backends.ts"
import * as CommandPlan from "./CommandPlan.ts"
import * as ConsentPlan from "./ConsentPlan.ts"
import * as ContentionPlan from "./ContentionPlan.ts"
import type * as Databases from "./Databases.ts"
import * as Dismissals from "./Dismissals.ts"
import { cpuMillis, drive } from "./Drive.ts"
import { pair } from "./Facts.ts"
import * as FaultPlan from "./FaultPlan.ts"
import * as Faults from "./Faults.ts"
import * as FilterChanges from "./FilterChanges.ts"
import * as IntentDelays from "./IntentDelays.ts"
import * as Invariants from "./Invariants.ts"
import * as Lists from "./Lists.ts"
import * as MediaUploads from "./MediaUploads.ts"
import * as Node from "./Node.ts"
import { Overlap } from "./Overlap.ts"
import * as Phones from "./Phones.ts"
import * as PostLimits from "./PostLimits.ts"
import * as Reports from "./Reports.ts"
import * as RequestAcceptance from "./RequestAcceptance.ts"
import * as Scenario from "./Scenario.ts"
import { Dice } from "./Seeded.ts"
import { Session } from "./Session.ts"
import type { Sessions } from "./Sockets.ts"
import * as SpamRules from "./SpamRules.ts"
import * as SuspensionChecks from "./SuspensionChecks.ts"
import * as TableBounds from "./TableBounds.ts"
import * as TransferPlan from "./TransferPlan.ts"
import { VirtualTime } from "./VirtualTime.ts"
import { hasMedia, isCalm, type Mutation, type Shared, shared, World } from "./World.ts"

export interface Options {
  /** Numbers of the commands to send, and of the seed's faults to inject. */
  readonly commands: ReadonlyArray<number>
  readonly faults: ReadonlyArray<number>
  readonly mutation: Mutation
  /** Regardless of the seed: users upload files, nodes freeze during jobs, and no other fault happens. */
  readonly standstills?: boolean
  /** Enables consent, polls and moderators, regardless of the seed. */
  readonly consents?: boolean
  /** True or false: accounts import lists and posts, or not, regardless of the seed. */
  readonly transfers?: boolean
  /** Prints the program's log. */
  readonly logs: boolean
}

export const commandsStandard = 40
const upTo = (count: number) => Array.from({ length: count }, (_, n) => n)
export const standard: Options = {
  commands: upTo(commandsStandard),
  faults: upTo(FaultPlan.faultsMax),
  mutation: {},
  logs: false
}

export interface Result {
  readonly seed: number
  /** Broken invariants at rest; empty for a good run. */
  readonly broken: ReadonlyArray<string>
  /** SHA-1 of all events in order. */
  readonly hash: string
  /** Readable events, with the milliseconds of virtual time. */
  readonly log: ReadonlyArray<string>
  /** Counts of faults and other events. */
  readonly counts: Readonly<Record<string, number>>
  readonly virtualMillis: number
  /** CPU time of the run, in milliseconds. */
  readonly cpuMillis: number
}

const nodesAtStart = 3
/** Maximum time after the last fault until all work is done, in milliseconds. */
const drainMillisMax = 30_000
/** Maximum commands that are repeated at rest. */
const repeatsMax = 12

/** Rest in which polls end and due pushes are sent, in milliseconds. */
const lastMillis = 90_000

const isSoon = Effect.fnUntraced(function*(sql: SqlClient.SqlClient, until: number) {
  const rows = yield* sql`SELECT FROM agenda WHERE kind = 'poll_end' AND due_at < ${new Date(until)}
    UNION ALL SELECT FROM pushes WHERE due_at < ${new Date(until)}`
  return rows.length > 0
})

/** Waits until all work is done, for a limited time. */
const drain = Effect.fnUntraced(function*({ time, withConsents }: World, { sql }: Shared, late: number) {
  const { now } = time
  for (let waited = 0; waited < drainMillisMax + late; waited += 1000) {
    yield* Effect.sleep("1 second")
    const [left] = yield* sql<{ n: number }>`SELECT (SELECT count(*) FROM fanouts)::int
      + (SELECT count(*) FROM agenda WHERE kind NOT IN ('poll_end', 'poll_update', 'interaction_request'))::int
      + (SELECT count(*) FROM media_attachments WHERE state IN ('queued', 'processing'))::int AS n`
    if (left!.n === 0 && (!withConsents || !(yield* isSoon(sql, now + lastMillis)))) return
  }
})

const scenario = (options: Options, overlapping: boolean) =>
  Effect.fnUntraced(function*(world: World) {
    const { seed } = world
    const dice = new Dice(seed, "scenario")
    const common = yield* shared(world)
    const { feeds, sql } = common
    const people = yield* Effect.forEach(upTo(6), (n) => person(`p${n}`, { locked: n === 5 })).pipe(
      Effect.provideService(SqlClient.SqlClient, sql)
    )
    const known = people.slice(0, 4).map((target) => ({
      target,
      by: people.filter((reader) => reader !== target && dice.chance(0.6))
    }))
    yield* Effect.forEach(known, ({ by, target }) => followers(target, by)).pipe(
      Effect.provideService(SqlClient.SqlClient, sql)
    )
    const followed = known.flatMap(({ by, target }) => by.map((reader) => pair(reader, target)))
    const lists = Lists.draw(new Dice(seed, "lists"), people)
    yield* Lists.insert(lists, new Date(world.time.now)).pipe(Effect.provideService(SqlClient.SqlClient, sql))
    yield* Phones.insert(people, new Date(world.time.now)).pipe(Effect.provideService(SqlClient.SqlClient, sql))
    const moderator = yield* Reports.insert.pipe(Effect.provideService(SqlClient.SqlClient, sql))
    yield* SpamRules.insert(seed, new Date(world.time.now)).pipe(Effect.provideService(SqlClient.SqlClient, sql))
    yield* PostLimits.insert(seed, people, new Date(world.time.now)).pipe(
      Effect.provideService(SqlClient.SqlClient, sql)
    )
    const all: ReadonlyArray<FeedKey> = [...people, ...lists.map(({ id }) => listFeed(id))]
    yield* Effect.forEach(all, (feed) => feeds.fill(feed, []))
    let started = 0
    // Some seeds have clock skew.
    const calm = isCalm(seed) || (overlapping && dice.chance(0.5))
    const skewed = dice.chance(0.25) && !calm
    // In a run with consent, nodes send more queries at start; a node that fails to start is started again.
    const start = (port: number): Effect.Effect<Node.Node> =>
      world.withConsents
        ? Effect.catchCause(begin(port), () => Effect.andThen(Effect.sleep("1 second"), start(port)))
        : begin(port)
    const begin = (port: number) =>
      Effect.suspend(() =>
        Node.start(world, common, String.fromCharCode(97 + started++), port, skewed ? dice.between(-1500, 1500) : 0)
      )
    const nodes = yield* Effect.forEach(upTo(nodesAtStart), (n) => start(n + 1), { concurrency: "unbounded" })
    yield* Effect.sleep("4 seconds")
    const requests = ConsentPlan.none()
    const makePlan = world.withConsents
      ? ConsentPlan.make(requests)
      : overlapping
      ? ContentionPlan.make
      : CommandPlan.make(moderator)
    const clients = Scenario.make(world, people, nodes, makePlan)
    const faults = options.standstills
      ? FaultPlan.standstills(seed, nodesAtStart)
      : FaultPlan.plan(seed, nodesAtStart, calm, world.withTransfers)
    const planned = faults.filter((_, n) => options.faults.includes(n))
    const faultsOver = yield* Faults.injectFaults(world, planned, nodes, start, feeds.drop(all))
    // Accounts that decide leave intents to others, which the agenda finds if the wake-up is lost.
    const watched = isCalm(seed) && !overlapping && !world.withConsents
    const watch = yield* Effect.forkChild(watched ? IntentDelays.watch(world, common) : Effect.void)
    const takeOvers = yield* Effect.forkChild(
      overlapping ? ContentionPlan.takeOver(world, common, { accounts: people }) : Effect.void
    )
    const bounds = yield* Effect.forkChild(overlapping ? TableBounds.fillAtOnce(world, common) : Effect.void)
    const sweeps = yield* Effect.forkChild(MediaUploads.sweepRepeatedly(world, common))
    const filterings = yield* Effect.forkChild(FilterChanges.changeRepeatedly(world, common, people, nodes))
    const dismissals = yield* Effect.forkChild(Dismissals.dismissRepeatedly(world, common, people))
    const consents = yield* Effect.forkChild(
      world.withConsents ? ConsentPlan.watchRequests(requests, common) : Effect.void
    )
    const reads = yield* Effect.forkChild(
      world.withConsents ? SuspensionChecks.readRepeatedly(world, people, nodes, clients.outcomes) : Effect.void
    )
    const accepts = yield* Effect.forkChild(RequestAcceptance.acceptRepeatedly(world, common, people))
    const imports = world.withTransfers
      ? yield* Effect.forkChild(TransferPlan.importRepeatedly(world, common, people))
      : undefined
    yield* Effect.forEach(options.commands, clients.send, { concurrency: "unbounded", discard: true })
    if (imports !== undefined) yield* Fiber.join(imports)
    yield* Fiber.join(sweeps)
    yield* Fiber.join(accepts)
    yield* Fiber.join(dismissals)
    yield* Fiber.join(filterings)
    yield* Fiber.join(takeOvers)
    yield* Fiber.join(bounds)
    yield* faultsOver
    yield* drain(world, common, world.withConsents ? ConsentPlan.pollEndMillis : CommandPlan.lateMillis(seed))
    yield* Fiber.interruptAll([watch, consents, reads])
    // Clients that lost the response repeat the command with the same key, on a fresh node.
    const latest = yield* start(nodesAtStart + 1)
    yield* Effect.sleep("3 seconds")
    const again = yield* Effect.forEach(
      clients.outcomes.slice(-repeatsMax),
      (outcome) => clients.repeat(latest, outcome)
    )
    yield* drain(world, common, 0)
    const filtered = yield* FilterChanges.check(world, common, people.slice(0, 3), [...nodes, latest])
    const broken = yield* Invariants.check({
      world,
      shared: common,
      homes: latest.homes,
      listTimelines: latest.listTimelines,
      lists,
      people,
      locked: new Set([people[5]!]),
      followers: new Set(followed),
      outcomes: clients.outcomes,
      requests,
      again
    })
    return [...broken, ...filtered, ...(yield* TableBounds.check(common))]
  }, Effect.scoped)

const simulate = async (session: Sessions, time: VirtualTime, seed: number, options: Options): Promise<Result> => {
  const began = cpuMillis()
  const media = options.standstills || hasMedia(seed)
  const overlapping = session instanceof Overlap
  const withConsents = !overlapping && (options.consents ?? ConsentPlan.hasConsents(seed))
  const withTransfers = !overlapping && !withConsents && options.standstills !== true &&
    (options.transfers ?? TransferPlan.hasTransfers(seed))
  const logLevel = options.logs ? "Debug" : "None"
  const world = new World(session, time, seed, options.mutation, logLevel, media, withConsents, withTransfers)
  if (overlapping) {
    session.deadlock = (text) => world.wrong.push(`I21: a deadlock of ${text}`)
    session.waits = () => world.count("wait for a lock")
  }
  const { outside } = world
  const main = scenario(options, overlapping)(world)
  const exit = await drive({ time, outside, isBusy: () => session.busy, working: () => session.progress, main })
  return {
    seed,
    broken: Exit.isSuccess(exit) ? exit.value : [Cause.pretty(exit.cause)],
    hash: createHash("sha1").update(world.session.trace.digest()).update(world.network.log.join("\n"))
      .update(world.log.join("\n")).digest("hex"),
    log: world.log,
    counts: Object.fromEntries(world.counts),
    virtualMillis: time.elapsed,
    cpuMillis: cpuMillis() - began
  }
}

/** Runs one seed: the same seed and options give the same result, including the hash of all events. */
export const run = async (database: Databases.Database, seed: number, options: Options = standard): Promise<Result> => {
  database.empty()
  const time = new VirtualTime(new Dice(seed, "turns"))
  return simulate(new Session(database, time, new Dice(seed, "session"), options.mutation.sql), time, seed, options)
}

/** Runs one seed on a real Postgres with overlapping transactions: reproducible except for what Postgres decides. */
export const runOverlapping = async (backends: Backends, seed: number, options: Options = standard) => {
  await backends.empty(options.mutation.sql)
  const time = new VirtualTime(new Dice(seed, "turns"))
  return simulate(new Overlap(backends, time, new Dice(seed, "session")), time, seed, options)
}
