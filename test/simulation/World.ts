import { PgClient } from "@effect/sql-pg"
import { Clock, Context, Effect, Exit, Layer, Scope } from "effect"
import { MessageStorage, RunnerAddress } from "effect/cluster"
import { SqlClient } from "effect/sql"
import { Accounts } from "../../src/actors/account/Accounts.ts"
import * as Actors from "../../src/layers/Actors.ts"
import * as Database from "../../src/layers/Database.ts"
import { Broadcast } from "../../src/services/feeds/Broadcast.ts"
import { Feeds } from "../../src/services/feeds/Feeds.ts"
import { Commands } from "../../src/services/intents/Commands.ts"
import { config } from "../support/Actors.ts"
import * as Cluster from "./Cluster.ts"
import type { Peer, Session } from "./Session.ts"

/** Services that a mutant of the program replaces, to show that the simulation finds the bug. */
export interface Mutation {
  readonly feeds?: (feeds: Feeds["Service"], sql: SqlClient.SqlClient) => Feeds["Service"]
  readonly commands?: (commands: Commands["Service"], sql: SqlClient.SqlClient) => Commands["Service"]
}

/** A client of the database for one peer. */
export const client = (session: Session, peer: Peer, maxConnections: number) =>
  Layer.fresh(PgClient.layer({
    ...Database.names,
    stream: session.connect(peer),
    username: "postgres",
    database: "postgres",
    maxConnections
  }))

/** A started node: the real actors on the simulated database, network and leases. */
export interface Node {
  readonly name: string
  readonly address: RunnerAddress.RunnerAddress
  readonly peer: Peer
  readonly accounts: Accounts["Service"]
  /** Its database and network stand still for that long (milliseconds), while the others take over. */
  readonly freeze: (millis: number) => Effect.Effect<void>
}

/** The machines: three nodes on one database, with one store of feeds and one bus, as Redis would be. */
export const make = Effect.fnUntraced(function*(session: Session, mutation: Mutation) {
  const network = new Cluster.Network()
  const leases = new Cluster.Leases(6000)
  const services = yield* Effect.context<never>()
  const shared = yield* Layer.build(Layer.mergeAll(Feeds.layerMemory, Broadcast.layerMemory, MessageStorage.layerNoop))
  const feeds = Context.get(shared, Feeds)
  const observer: Peer = { name: "observer", dead: false, frozenUntil: 0, crash: () => {} }
  const sql = Context.get(yield* Layer.build(client(session, observer, 1)), SqlClient.SqlClient)

  const start = Effect.fnUntraced(function*(name: string, port: number) {
    const address = RunnerAddress.make(name, port)
    const scope = yield* Scope.make()
    const run = Effect.runForkWith(services)
    const peer: Peer = {
      name,
      dead: false,
      frozenUntil: 0,
      crash: () => {
        if (peer.dead) return
        peer.dead = true
        leases.freeze(address)
        network.servers.delete(Cluster.keyOf(address))
        run(Effect.andThen(network.breakConnections(address), Scope.close(scope, Exit.void)))
      }
    }
    const mutants = Layer.unwrap(Effect.map(SqlClient.SqlClient, (sql) =>
      Layer.merge(
        Layer.succeed(Feeds, mutation.feeds?.(feeds, sql) ?? feeds),
        Layer.succeed(Broadcast, Context.get(shared, Broadcast))
      )))
    const commands = Layer.effect(
      Commands,
      Effect.gen(function*() {
        const real = yield* Commands
        return mutation.commands?.(real, yield* SqlClient.SqlClient) ?? real
      })
    ).pipe(Layer.provide(Commands.layer))
    const layer = Layer.fresh(Actors.layerOverCommands).pipe(
      Layer.provide(Layer.fresh(commands)),
      Layer.provideMerge(Cluster.layer(network, leases, address)),
      Layer.provide(Layer.succeed(MessageStorage.MessageStorage, Context.get(shared, MessageStorage.MessageStorage))),
      Layer.provide(mutants),
      Layer.provide(client(session, peer, 4)),
      Layer.provide(config)
    )
    const built = yield* Layer.build(layer).pipe(Scope.provide(scope))
    yield* Effect.addFinalizer(() => Effect.sync(() => peer.crash()))
    const freeze = Effect.fnUntraced(function*(millis: number) {
      const listening = network.servers.get(Cluster.keyOf(address))
      if (peer.dead || listening === undefined) return
      peer.frozenUntil = (yield* Clock.currentTimeMillis) + millis
      leases.freeze(address)
      network.servers.delete(Cluster.keyOf(address))
      yield* network.breakConnections(address)
      yield* Effect.sleep(millis)
      if (peer.dead) return
      leases.unfreeze(address)
      network.servers.set(Cluster.keyOf(address), listening)
    })
    return { name, address, peer, accounts: Context.get(built, Accounts), freeze } satisfies Node
  })

  return { network, feeds, sql, start }
})

export type World = Effect.Success<ReturnType<typeof make>>
