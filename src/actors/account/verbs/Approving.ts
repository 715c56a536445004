import { Effect } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import type { AccountId } from "../../../services/database/Ids.ts"
import { InteractionActivities } from "../../../services/federation/outbox/InteractionActivities.ts"
import { RecordNotFound } from "../../../services/runtime/Errors.ts"
import type { RequestState } from "../../../services/statuses/InteractionRequest.ts"
import { InteractionRequests } from "../../../services/statuses/InteractionRequests.ts"
import { separatedMax } from "../../../services/statuses/Interactions.ts"
import type { Ownership } from "../core/Ownership.ts"
import { type Commands, onAccount } from "../core/Verbs.ts"
import * as Sending from "../fanout/Sending.ts"
import * as Controlling from "./Controlling.ts"
import * as Quoting from "./Quoting.ts"

const waiting: ReadonlyArray<RequestState> = ["pending"]

/** Decides requests to interact with the account's statuses, each once; inside the transaction of a command. */
export const make = Effect.gen(function*() {
  const activities = yield* InteractionActivities
  const control = yield* Controlling.make
  const quoting = yield* Quoting.make
  const requests = yield* InteractionRequests
  const send = yield* Sending.make

  /** Decides one request. Only a requester on another server is told. Returns false if there is no such request. */
  const decide = Effect.fnUntraced(
    function*(own: Ownership, requestId: bigint, to: "accepted" | "rejected"): Effect.fn.Return<
      boolean,
      SqlError
    > {
      const request = yield* requests.decide(requestId, own.accountId, waiting, to)
      if (request === undefined) return yield* quoting.decide(own, requestId, to)
      if (to === "accepted") yield* control.accepted(request)
      else yield* control.rejected(request)
      if (!request.local) yield* send(activities.respond(to === "accepted" ? "Accept" : "Reject", requestId))
      return true
    }
  )
  const decided = Effect.fnUntraced(function*(own: Ownership, requestId: bigint, to: "accepted" | "rejected") {
    if (!(yield* decide(own, requestId, to))) return yield* new RecordNotFound()
    return onAccount(own.accountId)
  })

  return {
    verbs: {
      AuthorizeInteraction: (own: Ownership, { requestId }: Commands["AuthorizeInteraction"]) =>
        decided(own, requestId, "accepted"),
      RejectInteraction: (own: Ownership, { requestId }: Commands["RejectInteraction"]) =>
        decided(own, requestId, "rejected")
    },
    /** Expires a request that was not decided in time. It ends like a rejected one, but may be made again. */
    due: Effect.fnUntraced(function*(own: Ownership, requestId: bigint) {
      const request = yield* requests.expire(requestId, own.accountId)
      if (request === undefined) return yield* Effect.asVoid(quoting.decide(own, requestId, "rejected"))
      yield* control.rejected(request)
      if (!request.local) return yield* send(activities.respond("Reject", requestId))
      // The account itself asked a remote author.
      if (own.accountId === request.accountId) {
        yield* send(request.kind === "favourite" ? activities.undoLike(requestId) : activities.undoRequest(requestId))
      }
      yield* requests.remove(requestId)
    }),
    /** Rejects a slice of the requests of a target that the account blocks. Returns true if there may be more. */
    rejectRequestsOf: Effect.fnUntraced(function*(own: Ownership, target: AccountId) {
      const found = yield* requests.between(own.accountId, target)
      for (const { id } of found) yield* decide(own, id, "rejected")
      return found.length === separatedMax
    })
  }
})
