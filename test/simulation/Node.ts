import { Context, Effect, Exit, Layer, Option, Scope } from "effect"
import {
  MessageStorage,
  RunnerAddress,
  RunnerHealth,
  Runners,
  RunnerServer,
  RunnerStorage,
  Sharding,
  ShardingConfig
} from "effect/cluster"
import { SqlClient } from "effect/sql"
import { AccountActors } from "../../src/actors/account/core/AccountActors.ts"
import { SliceRows, sliceRowsMax } from "../../src/actors/account/fanout/Slice.ts"
import * as Actors from "../../src/layers/Actors.ts"
import { shardGroups } from "../../src/layers/environment/Variable.ts"
import * as Media from "../../src/layers/Media.ts"
import { Broadcast } from "../../src/services/events/Broadcast.ts"
import { OriginChecks } from "../../src/services/federation/fetching/OriginChecks.ts"
import { Feeds } from "../../src/services/feeds/Feeds.ts"
import { HomeTimelines } from "../../src/services/feeds/HomeTimelines.ts"
import { ListTimelines } from "../../src/services/feeds/ListTimelines.ts"
import { ActiveFilters } from "../../src/services/filters/ActiveFilters.ts"
import { config } from "../support/Actors.ts"
import { noOutbound } from "../support/NoOutbound.ts"
import * as ClientServices from "./ClientServices.ts"
import * as Files from "./Files.ts"
import { Machine } from "./Machine.ts"
import * as MediaUploads from "./MediaUploads.ts"
import * as Performed from "./Performed.ts"
import { Dice } from "./Seeded.ts"
import * as TransferNodes from "./TransferNodes.ts"
import { client, committedOnly, type Shared, type Step, type World } from "./World.ts"

/** A started node: the real actors on a simulated machine. */
export interface Node {
  readonly machine: Machine
  readonly port: number
  readonly actors: AccountActors["Service"]
  readonly homes: HomeTimelines["Service"]
  readonly filters: ActiveFilters["Service"]
  readonly listTimelines: ListTimelines["Service"]
  /** Renderings for clients; undefined if the run does not check them. */
  readonly shown: ClientServices.Shown["Service"]
  /** Undefined if the run has no media. */
  readonly uploading: MediaUploads.MediaUploads | undefined
  /** Stops the node like SIGTERM, and waits until it has ended. */
  readonly stop: Effect.Effect<void>
}

class MediaOfNode extends Context.Service<MediaOfNode, MediaUploads.MediaUploads | undefined>()(
  "murmuration/test/simulation/MediaOfNode"
) {}

const surrounding = (world: World, machine: Machine) => <A, R>(step: Step, effect: Effect.Effect<A, never, R>) =>
  Effect.andThen(world.step(machine, step, "before"), Effect.tap(effect, world.step(machine, step, "after")))

/** The node's database client; effects after a commit are subject to faults. */
const database = (world: World, machine: Machine) =>
  Layer.effect(
    SqlClient.SqlClient,
    Effect.map(SqlClient.SqlClient, (sql) => {
      const around = surrounding(world, machine)
      const afterCommit: typeof sql.afterCommit = (effect) => sql.afterCommit(around("effect", effect))
      return Object.assign(sql.bind(undefined), sql, { afterCommit })
    })
  ).pipe(Layer.provideMerge(client(world.session, machine, 4)))

/** The node's feeds and bus, with injected faults. */
const watched = (world: World, machine: Machine, { bus, feeds, messages }: Shared) => {
  const around = surrounding(world, machine)
  const seen = Feeds.of({
    push: (accounts, entry) => around("feeds", feeds.push(accounts, entry)),
    begin: (account) => around("feeds", feeds.begin(account)),
    fill: (account, entries, since) => around("feeds", feeds.fill(account, entries, since)),
    drop: (accounts) => around("feeds", feeds.drop(accounts)),
    read: feeds.read
  })
  const publish: typeof bus.publish = (message) =>
    around(
      "bus",
      Effect.andThen(
        Effect.sync(() => world.busMessages.push({ machine, at: world.time.now, message })),
        bus.publish(message)
      )
    )
  return Layer.mergeAll(
    Layer.effect(Feeds, Effect.map(SqlClient.SqlClient, (sql) => world.mutation.feeds?.(seen, sql) ?? seen)),
    Layer.effect(
      Broadcast,
      Effect.map(SqlClient.SqlClient, (sql) => Broadcast.of({ ...bus, publish: committedOnly(world, sql, publish) }))
    ),
    Layer.succeed(MessageStorage.MessageStorage, messages)
  )
}

/** Real sharding over the simulated network and leases. */
const cluster = (world: World, machine: Machine, address: RunnerAddress.RunnerAddress) =>
  RunnerServer.layerWithClients.pipe(
    Layer.provide(RunnerHealth.layerPing.pipe(Layer.provide(Runners.layerRpc))),
    Layer.provide([world.network.serverLayer(address, machine), world.network.clientLayer(machine)]),
    Layer.provide(Layer.succeed(RunnerStorage.RunnerStorage, world.leases.storage)),
    Layer.provide(ShardingConfig.layer({
      runnerAddress: Option.some(address),
      shardsPerGroup: 12,
      ...(world.media ? { availableShardGroups: shardGroups, assignedShardGroups: shardGroups } : {}),
      shardLockExpiration: 6000,
      shardLockRefreshInterval: 2000,
      runnerHealthCheckInterval: 2000,
      refreshAssignmentsInterval: 1000,
      entityMessagePollInterval: 1000,
      runnerJoinDebounce: 500,
      simulateRemoteSerialization: false
    }))
  )

/** Starts a node; a dead one may return on its old port. */
export const start = Effect.fnUntraced(
  function*(world: World, shared: Shared, name: string, port: number, skewMillis: number) {
    const slices = new Dice(world.seed, "slices").pick([1, 2, sliceRowsMax])
    const machine = new Machine(world.time, world.base, world.seed, name, skewMillis)
    const media = world.media
      ? Layer.effect(MediaOfNode, MediaUploads.make).pipe(
        Layer.provide(Media.layerOverRows),
        Layer.provide(Files.rows(world)),
        Layer.provide(Files.layer(world, machine))
      )
      : Layer.succeed(MediaOfNode, undefined)
    const actors = Layer.fresh(Actors.layerOverCommands)
    const clientServices = world.withConsents
      ? ClientServices.layer(world, machine).pipe(Layer.provideMerge(actors))
      : Layer.merge(actors, Layer.succeed(ClientServices.Shown, undefined))
    const served = world.withTransfers
      ? TransferNodes.layer(world, machine).pipe(Layer.provideMerge(clientServices))
      : clientServices
    const address = RunnerAddress.make(`node-${port}`, port)
    const layer = Layer.merge(served, media).pipe(
      Layer.provideMerge(Layer.mergeAll(HomeTimelines.layer, ListTimelines.layer, ActiveFilters.layer)),
      Layer.provide(Layer.fresh(Performed.commands(world, machine))),
      Layer.provideMerge(cluster(world, machine, address)),
      Layer.provide(watched(world, machine, shared)),
      Layer.provide(database(world, machine)),
      Layer.provide([config, OriginChecks.layerNone, noOutbound, Layer.succeed(SliceRows, slices)])
    )
    const scope = Scope.makeUnsafe()
    const building = machine.on(world.outside)(Effect.orDie(Scope.provide(Layer.build(Layer.fresh(layer)), scope)))
    // A node ends if it cannot start because the database is down.
    const built = yield* world.withConsents
      ? Effect.onError(building, () => Effect.sync(() => world.crash(machine)))
      : building
    world.leases.owner(address, Context.get(built, Sharding.Sharding))
    const node: Node = {
      machine,
      port,
      actors: Context.get(built, AccountActors),
      homes: Context.get(built, HomeTimelines),
      filters: Context.get(built, ActiveFilters),
      listTimelines: Context.get(built, ListTimelines),
      shown: Context.get(built, ClientServices.Shown),
      uploading: Context.get(built, MediaOfNode),
      stop: machine.on(world.outside)(Scope.close(scope, Exit.void)).pipe(
        Effect.andThen(Effect.sync(() => world.crash(machine)))
      )
    }
    return node
  }
)

/** Ends a node that cannot release a shard, as `main` does. */
export const endStuck = (world: World, nodes: ReadonlyArray<Node>, restartLater: (node: Node) => void) => {
  world.leases.stuck = ({ port }, shard) => {
    const node = nodes.find((one) => one.port === port && !one.machine.dead)
    if (node === undefined) return
    world.count("stuck")
    world.say(`${node.machine.name} ends, because it cannot release shard ${shard}`)
    world.crash(node.machine)
    restartLater(node)
  }
}
