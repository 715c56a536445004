import { Context, Deferred, Effect, Layer } from "effect"
import { type ShardId, Sharding } from "effect/cluster"
import { OperatorError } from "./OperatorError.ts"

/** How often the lock of a shard is kept (every two seconds) whose actors have to end; they have a third of it. */
export const releaseRefreshesMax = 15

/** Counts how long shards take to be given up: not in time, for a node that stands still does nothing about it. */
export class Waits {
  private counts = new Map<string, number>()

  /** Takes all shards whose locks are kept now; answers one that this node no longer owns and could not give up. */
  stuck(kept: Iterable<ShardId.ShardId>, isOwned: (shard: ShardId.ShardId) => boolean) {
    const waiting = [...kept].filter((shard) => !isOwned(shard)).map(String)
    this.counts = new Map(waiting.map((shard) => [shard, (this.counts.get(shard) ?? 0) + 1]))
    return waiting.find((shard) => (this.counts.get(shard) ?? 0) >= releaseRefreshesMax)
  }
}

/**
 * Ends a node that cannot give up a shard. Effect keeps a shard's lock until all of its actors have ended, without a
 * bound, and one that never ends would keep its accounts from every node for ever. A lease ends with its node.
 */
export class ShardReleases extends Context.Service<ShardReleases, {
  /** Is told of the shards whose locks are kept, whenever they are. */
  readonly kept: (shards: Iterable<ShardId.ShardId>) => Effect.Effect<void>
  /** Says who knows which shards are owned; until then none counts as given up. */
  readonly owner: (sharding: Pick<Sharding.Sharding["Service"], "hasShardId">) => Effect.Effect<void>
  /** Fails, in words for the operator, once a shard could not be given up. */
  readonly stuck: Effect.Effect<never, OperatorError>
}>()("murmuration/layers/ShardReleases") {
  static readonly layer = Layer.sync(ShardReleases, () => {
    const waits = new Waits()
    const stuck = Deferred.makeUnsafe<never, OperatorError>()
    let isOwned: (shard: ShardId.ShardId) => boolean = () => true
    return ShardReleases.of({
      kept: (shards) =>
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
    message: `This node has to give up shard ${shard} and cannot, for an actor of it does not end. ` +
      "The node ends, so that others answer for its accounts. Start it again."
  })
