import { Duration, Effect, Layer, Option, Schedule } from "effect"
import {
  MessageStorage,
  RunnerAddress,
  RunnerHealth,
  Runners,
  RunnerStorage,
  Sharding,
  ShardingConfig,
  SocketRunner
} from "effect/cluster"
import { RpcSerialization } from "effect/rpc"
import { type ShardGroup, shardGroups } from "./environment/Variable.ts"
import { OperatorError } from "./OperatorError.ts"
import * as RunnerSockets from "./RunnerSockets.ts"
import * as ShardLocks from "./ShardLocks.ts"
import { ShardReleases } from "./ShardReleases.ts"

/** Actors that one process keeps in memory at most (about 15 KB each); beyond it new ones answer 503. */
const residentEntitiesMax = 30_000
/** How long an actor stays in memory after its last message. */
const entityIdleTime = Duration.minutes(5)
/** Shards of a group; the same on all nodes of a cluster for ever. */
export const shardsPerGroup = 300
/** How long a node keeps its shards that no longer says that it lives; its accounts answer elsewhere after that. */
export const leaseTime = Duration.seconds(6)
const pingTimeout = Duration.seconds(3)
const pingRetries = 1

/**
 * Messages between actors are volatile: what must not be lost is a row before anybody is told. Nothing is written or
 * polled for messages here.
 */
const sharding = (
  address: RunnerAddress.RunnerAddress | undefined,
  assigned: ReadonlyArray<ShardGroup> = shardGroups
) =>
  ShardingConfig.layer({
    ...(address === undefined ? {} : { runnerAddress: Option.some(address) }),
    availableShardGroups: shardGroups,
    assignedShardGroups: assigned,
    shardsPerGroup,
    shardLockExpiration: leaseTime,
    shardLockRefreshInterval: Duration.seconds(2),
    refreshAssignmentsInterval: Duration.seconds(1),
    runnerHealthCheckInterval: Duration.seconds(2),
    sendRetryInterval: Duration.millis(50),
    entityMaxIdleTime: entityIdleTime,
    entityRegistrationTimeout: Duration.seconds(10),
    entityTerminationTimeout: Duration.seconds(10),
    // Nothing is polled for; but a node that could not take its shards, because Postgres was away, tries again after it.
    entityMessagePollInterval: Duration.seconds(1),
    entityReplyPollInterval: Duration.seconds(10),
    maxResidentEntities: residentEntitiesMax,
    simulateRemoteSerialization: false
  })

/** All actors in this process. */
export const layerSingle = Sharding.layer.pipe(
  Layer.provideMerge(Runners.layerNoop),
  Layer.provideMerge(Layer.merge(MessageStorage.layerNoop, ShardReleases.layer)),
  Layer.provide([RunnerStorage.layerMemory, RunnerHealth.layerNoop]),
  Layer.provide(sharding(undefined))
)

/** A node is dead when it does not answer a ping twice; a frozen one is found as fast as one that is gone. */
const health = Layer.effect(
  RunnerHealth.RunnerHealth,
  Effect.map(Runners.Runners, (runners) =>
    RunnerHealth.RunnerHealth.of({
      isAlive: (address) =>
        runners.ping(address).pipe(
          Effect.timeout(pingTimeout),
          Effect.retry({ times: pingRetries, schedule: Schedule.spaced("500 millis") }),
          Effect.isSuccess
        )
    }))
).pipe(Layer.provide(Runners.layerRpc), Layer.provide(RunnerSockets.layerClientProtocol))

/** This process as one node among others at `host` and `port`; the nodes share one database, which knows who has which shard. */
export const layerNode = (host: string, port: number, assigned: ReadonlyArray<ShardGroup>) =>
  ShardReleases.layerOwner.pipe(
    Layer.provideMerge(SocketRunner.layer),
    Layer.provide([RunnerSockets.layerServer, RunnerSockets.layerClientProtocol]),
    Layer.provide(health),
    Layer.provideMerge(MessageStorage.layerNoop),
    Layer.provide(ShardLocks.layer),
    Layer.provideMerge(ShardReleases.layer),
    Layer.provide(sharding(RunnerAddress.make(host, port), assigned)),
    Layer.provide(RpcSerialization.layerSchemaBinary()),
    Layer.catchTag("SocketServerError", ({ reason }) =>
      Layer.effectContext(
        new OperatorError({
          message: `Cannot listen on ${host}:${port} (CLUSTER_HOST, CLUSTER_PORT): ${reason.message}`
        })
      ))
  )
