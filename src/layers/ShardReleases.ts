import { Context, Deferred, Effect, Layer } from "effect"
import { type ShardId, Sharding } from "effect/cluster"
import { OperatorError } from "./OperatorError.ts"

/**
 * Lock refreshes (one every two seconds) after which a shard that should be released counts as stuck; its actors have a
 * third of that time to end.
 */
export const releaseRefreshesMax = 15

/**
 * Counts the refreshes for which shards wait to be released. Counts instead of a clock, because a frozen node makes no
 * progress.
 */
export class Waits {
  private counts = new Map<string, number>()

  /** Takes all shards whose locks were refreshed. Returns one that this node no longer owns but could not release. */
  stuck(heldShards: Iterable<ShardId.ShardId>, isOwned: (shard: ShardId.ShardId) => boolean) {
    const waiting = [...heldShards].filter((shard) => !isOwned(shard)).map(String)
    this.counts = new Map(waiting.map((shard) => [shard, (this.counts.get(shard) ?? 0) + 1]))
    return waiting.find((shard) => (this.counts.get(shard) ?? 0) >= releaseRefreshesMax)
  }
}

/**
 * Ends a node that cannot release a shard. Effect keeps a shard's lock until all of its actors have ended, without a
 * limit: an actor that never ends would make its shard's accounts unavailable on every node. A lease ends with its
 * node.
 */
export class ShardReleases extends Context.Service<ShardReleases, {
  /** Reports the shards whose locks were refreshed. */
  readonly refreshed: (shards: Iterable<ShardId.ShardId>) => Effect.Effect<void>
  /** Sets the source of shard ownership; until then no shard counts as waiting. */
  readonly owner: (sharding: Pick<Sharding.Sharding["Service"], "hasShardId">) => Effect.Effect<void>
  /** Fails with an operator error once a shard could not be released. */
  readonly stuck: Effect.Effect<never, OperatorError>
}>()("murmuration/layers/ShardReleases") {
  static readonly layer = Layer.sync(ShardReleases, () => {
    const waits = new Waits()
    const stuck = Deferred.makeUnsafe<never, OperatorError>()
    let isOwned: (shard: ShardId.ShardId) => boolean = () => true
    return ShardReleases.of({
      refreshed: (shards) =>
        Effect.suspend(() => {
          const shard = waits.stuck(shards, isOwned)
          return shard === undefined ? Effect.void : Effect.asVoid(Deferred.fail(stuck, inWordsOf(shard)))
        }),
      owner: ({ hasShardId }) => Effect.sync(() => void (isOwned = hasShardId)),
      stuck: Deferred.await(stuck)
    })
  })

  static readonly layerOwner = Layer.effectDiscard(Effect.gen(function*() {
    yield* (yield* ShardReleases).owner(yield* Sharding.Sharding)
  }))
}

const inWordsOf = (shard: string) =>
  new OperatorError({
    message: `This node cannot release shard ${shard} because one of its actors does not stop. ` +
      "The node exits, so that other nodes can take over its accounts. Start it again."
  })
