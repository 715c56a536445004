import { Effect } from "effect"
import { AccountId } from "../../../services/database/Ids.ts"
import { DeliveryExpansion } from "../../../services/federation/outbox/DeliveryExpansion.ts"
import { Fanouts } from "../../../services/intents/Fanouts.ts"
import { RecordNotFound } from "../../../services/runtime/Errors.ts"
import { InteractionRequests } from "../../../services/statuses/InteractionRequests.ts"
import { separatedMax } from "../../../services/statuses/Interactions.ts"
import { type RemovedReply, ReplyRemovals } from "../../../services/statuses/ReplyRemovals.ts"
import { StatusTargets } from "../../../services/statuses/StatusTargets.ts"
import { done, ignored } from "../core/Outcome.ts"
import type { Ownership } from "../core/Ownership.ts"
import { type Commands, onStatus } from "../core/Verbs.ts"
import * as TellFollowers from "../fanout/TellFollowers.ts"

/**
 * Removes replies from an account's threads, for everyone: locally at once, elsewhere by a Reject to the servers of the
 * reply and of followers. Inside the transaction of a command.
 */
export const make = Effect.gen(function*() {
  const deliveryExpansion = yield* DeliveryExpansion
  const fanouts = yield* Fanouts
  const removals = yield* ReplyRemovals
  const requests = yield* InteractionRequests
  const statusTargets = yield* StatusTargets
  const reject = yield* TellFollowers.make

  const removed = Effect.fnUntraced(function*(own: Ownership, replies: ReadonlyArray<RemovedReply>) {
    for (const { accountId, id, local, parentId, uri } of replies) {
      yield* reject(own, "RejectReply", parentId, uri ?? String(id))
      if (local) yield* deliveryExpansion.enqueueChange(accountId, id, "Update")
      yield* fanouts.enqueue(AccountId.make(accountId), { _tag: "card", statusId: id })
    }
    yield* requests.revoke(replies.map(({ id }) => id))
  })

  return {
    verbs: {
      RemoveReply: Effect.fnUntraced(function*(own: Ownership, { replyId, statusId }: Commands["RemoveReply"]) {
        const { id } = yield* statusTargets.own(own.accountId, statusId)
        const reply = yield* removals.one(own.accountId, replyId, id)
        if (reply === undefined) return yield* new RecordNotFound()
        yield* removed(own, [reply])
        return onStatus(replyId)
      })
    },
    /** Removes a reply that its remote parent's author rejects. */
    rejected: Effect.fnUntraced(function*(own: Ownership, replyId: bigint) {
      const reply = yield* removals.one(own.accountId, replyId)
      if (reply === undefined) return yield* ignored("not a reply to the sender")
      yield* removed(own, [reply])
      return done
    }),
    /** Removes a slice of the replies of an account that is blocked. Returns true if there may be more. */
    removeRepliesOf: Effect.fnUntraced(function*(own: Ownership, target: AccountId) {
      const replies = yield* removals.allOf(own.accountId, target)
      yield* removed(own, replies)
      return replies.length === separatedMax
    })
  }
})
