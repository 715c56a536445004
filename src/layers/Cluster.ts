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

/** Maximum actors in the memory of a process (about 15 KB each); beyond it commands to further actors fail with 503. */
const residentEntitiesMax = 30_000
/** Time for which an actor stays in memory after its last message. */
const entityIdleTime = Duration.minutes(5)
/** Shards per group; must be the same on all nodes of a cluster and never change. */
export const shardsPerGroup = 300
/** Time after which a node that sends no sign of life loses its shards to other nodes. */
export const leaseTime = Duration.seconds(6)
const pingTimeout = Duration.seconds(3)
const pingRetries = 1

/**
 * Messages between actors are volatile: what must not be lost is written to a row before any actor is told. Message
 * storage is neither written nor polled.
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
    // Also the retry interval of a node that could not take its shards because Postgres was down. Messages are not
    // polled.
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

/** Marks a node as dead when it misses two pings; a frozen node is detected as fast as a stopped one. */
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

/**
 * This process as a node of a cluster, at `host` and `port`. The nodes share one database, which holds the shard locks.
 */
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
