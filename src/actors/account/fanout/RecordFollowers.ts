import { Clock, Effect } from "effect"
import { DeliveryExpansion } from "../../../services/federation/outbox/DeliveryExpansion.ts"
import { Fanouts, type Progress } from "../../../services/intents/Fanouts.ts"
import type { RecordFollowers } from "../../../services/intents/Intent.ts"
import { MoveFollowers } from "../../../services/social/MoveFollowers.ts"
import { Moves } from "../../../services/social/Moves.ts"
import type { Owners, Ownership } from "../core/Ownership.ts"
import { intoDelivery, type Slice } from "./Slice.ts"

/**
 * First part of a move: records the followers, before any of them can leave. Then local followers are taken along and
 * other servers are told. Built once per node.
 */
export const make = Effect.fnUntraced(function*(owners: Owners) {
  const deliveryExpansion = yield* DeliveryExpansion
  const fanouts = yield* Fanouts
  const moveFollowers = yield* MoveFollowers
  const moves = yield* Moves
  const inTransaction = intoDelivery(owners)

  /** Phase 0 deletes the followers of an earlier move; phase 1 records the first followers, and phase 2 further ones. */
  const step = Effect.fnUntraced(function*({ accountId }: Ownership, at: Progress, movedTo: bigint) {
    const { cursor, phase } = at
    if (phase === 0) return yield* fanouts.advance(at, (yield* moveFollowers.forget(accountId)) ? 0 : 1, cursor + 1n)
    const next = yield* moveFollowers.record(accountId, movedTo, phase === 1 ? 0n : cursor)
    if (next !== undefined) return yield* fanouts.advance(at, 2, next)
    yield* fanouts.enqueue(accountId, { _tag: "move", movedTo })
    const target = yield* moves.requestedTarget(accountId)
    if (target !== undefined) {
      const number = String(yield* Clock.currentTimeMillis)
      yield* deliveryExpansion.tellFollowers(accountId, null, { leaves: "Move", number, target })
    }
    return yield* fanouts.complete(at)
  })

  const slice: Slice<RecordFollowers> = (own, at, { movedTo }) => inTransaction(own, step(own, at, movedTo))
  return slice
})
