import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Exit, Layer, Option, Scope } from "effect"
import {
  MessageStorage,
  RunnerAddress,
  RunnerHealth,
  Runners,
  RunnerServer,
  RunnerStorage,
  ShardingConfig
} from "effect/cluster"
import { SqlClient } from "effect/sql"
import { Accounts } from "../../src/actors/account/Accounts.ts"
import * as Actors from "../../src/layers/Actors.ts"
import * as Database from "../../src/layers/Database.ts"
import { Broadcast, type BroadcastMessage } from "../../src/services/feeds/Broadcast.ts"
import { Feeds } from "../../src/services/feeds/Feeds.ts"
import { HomeTimelines } from "../../src/services/feeds/HomeTimelines.ts"
import { Commands } from "../../src/services/intents/Commands.ts"
import { config } from "../support/Actors.ts"
import { Leases } from "./Leases.ts"
import { Machine } from "./Machine.ts"
import { Network } from "./Network.ts"
import * as Probe from "./Probe.ts"
import { Dice } from "./Seeded.ts"
import { Session } from "./Session.ts"
import type { VirtualTime } from "./VirtualTime.ts"
import type { PGlite } from "@electric-sql/pglite"

/** Services that a mutant of the program replaces, to show that the simulation finds the bug. */
export interface Mutation {
  readonly feeds?: (feeds: Feeds["Service"], sql: SqlClient.SqlClient) => Feeds["Service"]
  readonly commands?: (commands: Commands["Service"], sql: SqlClient.SqlClient) => Commands["Service"]
}

/** Where a machine can be hit: it sends SQL, commits, writes to the feeds, tells the bus or another node. */
export type Step = "sql" | "commit" | "feeds" | "bus" | "network"

/** A client of the database for one machine, as the product's, over the simulated session. */
export const client = (session: Session, machine: Machine, maxConnections: number) =>
  Layer.fresh(PgClient.layer({
    ...Database.names,
    stream: session.connect(machine),
    username: "postgres",
    database: "postgres",
    maxConnections,
    multiplex: true,
    connectTimeout: "3 seconds"
  }))

/** A started node: the real actors on the simulated database, network and leases. */
export interface Node {
  readonly address: RunnerAddress.RunnerAddress
  readonly machine: Machine
  readonly accounts: Accounts["Service"]
  readonly homes: HomeTimelines["Service"]
  /** A graceful end; answers when it is over. */
  readonly stop: Effect.Effect<void>
}

const leaseMillis = 6_000

/** The machines: nodes on one database, with one store of feeds and one bus, as Redis would be. */
export class World {
  readonly log: Array<string> = []
  readonly published: Array<BroadcastMessage> = []
  readonly probe = new Probe.Probe()
  readonly nodes: Array<Node> = []
  readonly session: Session
  readonly network: Network
  /** The machine of clients and of whoever looks on: true time, and it never fails. */
  readonly outside: Machine
  /** Called when a machine is about to do something that others can see; what it answers is done first. */
  step: (machine: Machine, step: Step) => Effect.Effect<void> = () => Effect.void
  private readonly leases: Leases
  readonly time: VirtualTime
  readonly seed: number
  private readonly mutation: Mutation

  constructor(database: PGlite, time: VirtualTime, seed: number, mutation: Mutation) {
    this.time = time
    this.seed = seed
    this.mutation = mutation
    this.session = new Session(database, time, new Dice(seed, "session"))
    this.network = new Network(time, new Dice(seed, "network"))
    this.network.step = (machine) => this.step(machine, "network")
    this.leases = new Leases(leaseMillis, time, () => this.session.refuses)
    this.outside = new Machine(time, seed, "outside")
  }

  say(text: string) {
    this.log.push(`${String(this.time.elapsed).padStart(6)} ${text}`)
  }

  /** The end of a machine, as by kill -9: nothing of it runs any more, and its connections end. */
  crash(machine: Machine) {
    if (machine.dead) return
    machine.kill()
    this.session.release(machine)
    this.network.breakConnections(machine, true)
  }
}

/** What all nodes share, built on the machine outside. */
export const shared = Effect.fnUntraced(function*(world: World) {
  const context = yield* Layer.build(Layer.mergeAll(Feeds.layerMemory, Broadcast.layerMemory, MessageStorage.layerNoop))
  const sql = Context.get(yield* Layer.build(client(world.session, world.outside, 2)), SqlClient.SqlClient)
  const feeds = Context.get(context, Feeds)

  /** Starts a node; one that died may come back at its old address. */
  const start = Effect.fnUntraced(function*(name: string, port: number, skewMillis: number) {
    const address = RunnerAddress.make(`node-${port}`, port)
    const machine = new Machine(world.time, world.seed, name, skewMillis)
    const scope = yield* Scope.make()
    const before = (step: Step) => <A>(effect: Effect.Effect<A>) => Effect.andThen(world.step(machine, step), effect)
    const behind = (step: Step) => <A>(effect: Effect.Effect<A>) => Effect.tap(effect, world.step(machine, step))
    const seen = Layer.effectContext(Effect.map(SqlClient.SqlClient, (sql) => {
      const watched = Feeds.of({
        ...feeds,
        push: (accounts, entry) => behind("feeds")(feeds.push(accounts, entry)),
        fill: (account, entries) => behind("feeds")(feeds.fill(account, entries)),
        drop: (accounts) => before("feeds")(feeds.drop(accounts))
      })
      const bus = Context.get(context, Broadcast)
      return Context.make(Feeds, world.mutation(watched, sql))
    }))
    return yield* Effect.void
  })
  return { start, sql, feeds }
})
