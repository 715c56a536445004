import { Duration, Effect, Layer, Schedule } from "effect"
import { ShardId, Sharding } from "effect/cluster"
import { NodeFigures, reportMillis } from "../services/metrics/NodeFigures.ts"
import { shardsPerGroup } from "./Cluster.ts"
import { Environment } from "./Environment.ts"
import { shardGroups } from "./environment/Variable.ts"

const make = Effect.gen(function*() {
  const { cluster } = yield* Environment
  // A single process is asked directly.
  if (cluster === undefined) return
  const figures = yield* NodeFigures
  const sharding = yield* Sharding.Sharding
  const all = shardGroups.flatMap((group) =>
    Array.from({ length: shardsPerGroup }, (_, at) => ShardId.make(group, at + 1))
  )
  const report = Effect.flatMap(sharding.activeEntityCount, (actors) =>
    figures.report({
      address: `${cluster.host}:${cluster.port}`,
      actors,
      shards: all.filter(sharding.hasShardId).length
    })).pipe(Effect.catch((error) => Effect.logDebug("this node could not store its status report", error)))
  yield* Effect.forkScoped(Effect.repeat(report, Schedule.spaced(Duration.millis(reportMillis))))
})

/** Publishes a cluster node's counts of actors and shards to the other nodes, through the database. */
export const layer = Layer.effectDiscard(make).pipe(Layer.provide(NodeFigures.layer))
