import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer, References } from "effect"
import { MessageStorage } from "effect/cluster"
import { SqlClient } from "effect/sql"
import * as Database from "../../src/layers/Database.ts"
import { Broadcast, type BroadcastMessage } from "../../src/services/events/Broadcast.ts"
import { Feeds } from "../../src/services/feeds/Feeds.ts"
import type { Commands } from "../../src/services/intents/Commands.ts"
import type { MediaJobs } from "../../src/services/media/MediaJobs.ts"
import type { Storage } from "../../src/services/media/Storage.ts"
import type { StoredFiles } from "../../src/services/media/StoredFiles.ts"
import * as Dismissals from "./Dismissals.ts"
import { Leases } from "./Leases.ts"
import { Machine } from "./Machine.ts"
import { Network } from "./Network.ts"
import { type Phones, silent } from "./PushService.ts"
import { Dice } from "./Seeded.ts"
import type { Sessions } from "./Sockets.ts"
import { Suspensions } from "./Suspensions.ts"
import * as TransferInvariants from "./TransferInvariants.ts"
import type { VirtualTime } from "./VirtualTime.ts"

/** Services that a mutant replaces, to show that the simulation finds the bug. */
export interface Mutation {
  /** Rewrites the text of every statement. */
  readonly sql?: (text: string) => string
  /** Replaces the shared feed store. */
  readonly store?: (feeds: Feeds["Service"]) => Feeds["Service"]
  /** Replaces a node's use of the store. */
  readonly feeds?: (feeds: Feeds["Service"], sql: SqlClient.SqlClient) => Feeds["Service"]
  readonly commands?: (commands: Commands["Service"], sql: SqlClient.SqlClient) => Commands["Service"]
  readonly processings?: (jobs: MediaJobs["Service"]) => MediaJobs["Service"]
  readonly storedFiles?: (
    files: StoredFiles["Service"],
    storage: Storage["Service"],
    sql: SqlClient.SqlClient
  ) => StoredFiles["Service"]
}

/**
 * Points at which a fault can strike a machine: it sends SQL, commits a transaction, writes by a single statement,
 * starts effects of a commit, writes feeds, publishes on the bus, sends to another node, or stores a file.
 */
export type Step = "sql" | "commit" | "write" | "effect" | "feeds" | "bus" | "network" | "files"

export type Side = "before" | "after"

/** A bus message, with its sender and time, in milliseconds since 1970. */
export interface BusMessage {
  readonly machine: Machine
  readonly at: number
  readonly message: BroadcastMessage
}

const leaseMillis = 6_000

/** A machine's database client, with the product's options, over the simulated session. */
export const client = (session: Sessions, machine: Machine, maxConnections: number) =>
  Layer.fresh(PgClient.layer({
    ...Database.names,
    stream: session.connect(machine),
    username: "postgres",
    database: "postgres",
    maxConnections,
    multiplex: true,
    connectTimeout: "3 seconds"
  }))

/** I28: publishes only committed changes on the bus. */
export const committedOnly = (
  world: World,
  sql: SqlClient.SqlClient,
  publish: Broadcast["Service"]["publish"]
): Broadcast["Service"]["publish"] =>
(message) =>
  Effect.flatMap(Effect.serviceOption(sql.transactionService), ({ _tag: inside }) => {
    if (inside === "Some") world.wrong.push(`I28: ${message._tag} is published inside an open transaction`)
    return publish(message)
  })

/** Returns true for calm seeds, which only lose responses of commits; everything else is on time. */
export const isCalm = (seed: number) => new Dice(seed, "still").chance(0.1)

/** Returns true for seeds with media, which take time. */
export const hasMedia = (seed: number) => new Dice(seed, "media").chance(0.2)

/** State that all machines of a run share: time, the database, leases, the network, and a record of events. */
export class World {
  readonly time: VirtualTime
  readonly seed: number
  readonly mutation: Mutation
  readonly base: Context.Context<never>
  readonly session: Sessions
  readonly network: Network
  readonly leases: Leases
  /** Machine of clients and observers: its clock is right, and it never fails. */
  readonly outside: Machine
  /** Readable events. */
  readonly log: Array<string> = []
  /** Counts of events, by name. */
  readonly counts = new Map<string, number>()
  /** Client errors that no fault explains. */
  readonly wrong: Array<string> = []
  readonly busMessages: Array<BusMessage> = []
  /** True if users upload files in this run. */
  readonly media: boolean
  /** True if the run has consent, polls and moderators, and nodes that serve streams and phones. */
  readonly withConsents: boolean
  /** True if accounts import lists and posts in this run. */
  readonly withTransfers: boolean
  readonly transfers = TransferInvariants.none()
  readonly suspensions = new Suspensions()
  readonly dismissed = Dismissals.none()
  readonly phones: Phones = silent()
  /** Stored files, by name. */
  readonly files = new Map<string, string>()
  /** Newest attempt of each file's job, by file id; absent if the last one was released. */
  readonly attempts = new Map<bigint, number>()
  /** Called before and after a machine does something visible to others; then the returned effect runs. */
  step: (machine: Machine, step: Step, side: Side) => Effect.Effect<void> = () => Effect.void
  /** Called when a machine has run a command in a transaction that is not yet committed. */
  performs: (machine: Machine, commandId: string) => void = () => {}

  constructor(
    session: Sessions,
    time: VirtualTime,
    seed: number,
    mutation: Mutation,
    logLevel: "None" | "Debug",
    media = hasMedia(seed),
    withConsents = false,
    withTransfers = false
  ) {
    this.time = time
    this.seed = seed
    this.mutation = mutation
    this.media = media
    this.withConsents = withConsents
    this.withTransfers = withTransfers
    this.base = Context.make(References.MinimumLogLevel, logLevel)
    this.session = session
    this.network = new Network(time, new Dice(seed, "network"))
    this.network.step = (machine) => this.step(machine, "network", "before")
    this.leases = new Leases(leaseMillis, time, () => this.session.refuses)
    this.outside = new Machine(time, this.base, seed, "outside")
  }

  say(text: string) {
    this.log.push(`${String(this.time.elapsed).padStart(7)} ms  ${text}`)
  }

  count(what: string) {
    this.counts.set(what, (this.counts.get(what) ?? 0) + 1)
  }

  /** Kills a machine like kill -9: its tasks never run again, and its connections break. */
  crash(machine: Machine) {
    if (machine.dead) return
    machine.kill()
    this.session.release(machine)
    this.network.breakConnections(machine, true)
  }
}

/** One feed store and one bus for all nodes, like Redis, and a database client for observers. */
export const shared = Effect.fnUntraced(function*(world: World) {
  const context = yield* Layer.build(Layer.mergeAll(Feeds.layerMemory, Broadcast.layerMemory, MessageStorage.layerNoop))
  const feeds = Context.get(context, Feeds)
  const database = yield* Layer.build(client(world.session, world.outside, 2))
  const sql = Context.get(database, SqlClient.SqlClient)
  const bus = Context.get(context, Broadcast)
  return {
    feeds: world.mutation.store?.(feeds) ?? feeds,
    /** Bus that nodes publish on. */
    bus,
    /** Bus for writers outside of nodes. */
    outsideBus: Broadcast.of({ ...bus, publish: committedOnly(world, sql, bus.publish) }),
    messages: Context.get(context, MessageStorage.MessageStorage),
    sql
  }
})

export type Shared = Effect.Success<ReturnType<typeof shared>>
