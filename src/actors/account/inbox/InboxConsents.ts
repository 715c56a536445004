import { Clock, Effect } from "effect"
import { activityTypeOf } from "../../../services/federation/documents/ActivityTypes.ts"
import { type Foreign, idOf } from "../../../services/federation/documents/ForeignValues.ts"
import type { InboundSender } from "../../../services/federation/inbox/InboundSender.ts"
import type { Order } from "../../../services/federation/inbox/Tombstones.ts"
import { done, type Outcome } from "../core/Outcome.ts"
import type { Ownership } from "../core/Ownership.ts"
import * as Controlling from "../verbs/Controlling.ts"
import * as Quoting from "../verbs/Quoting.ts"
import * as InboxFeatures from "./InboxFeatures.ts"
import * as InboxInteractions from "./InboxInteractions.ts"
import * as InboxQuotes from "./InboxQuotes.ts"

/** Returns the outcome of `by`, or that of `next` if `by` does not recognise the activity. */
export const orElse = <A, B, E, F>(by: Effect.Effect<A | undefined, E>, next: () => Effect.Effect<B, F>) =>
  Effect.flatMap(by, (outcome): Effect.Effect<A | B, F> => outcome === undefined ? next() : Effect.succeed(outcome))

/**
 * Handles all activities about consent: to quotes, replies, likes, boosts and membership in collections; inside a
 * transaction of a remote account's actor.
 */
export const make = Effect.fnUntraced(function*(
  posts: Parameters<typeof InboxInteractions.make>[0],
  boosts: Parameters<typeof InboxInteractions.make>[1]
) {
  const features = yield* InboxFeatures.make
  const interactions = yield* InboxInteractions.make(posts, boosts)
  const control = yield* Controlling.make
  const quoting = yield* Quoting.make
  const quotes = yield* InboxQuotes.make(posts, quoting)

  return {
    features,
    liked: interactions.liked,
    requested: (own: Ownership, self: InboundSender, activity: Foreign, order: Order): Outcome =>
      Effect.flatMap(Clock.currentTimeMillis, (now) =>
        activityTypeOf(activity) !== "QuoteRequest"
          ? interactions.request(own, self, activity, now, order)
          : quotes.request(own, self, activity, now)),
    /** Handles an Accept or Reject of a local request; undefined if it refers to none. */
    settled: (own: Ownership, self: InboundSender, activity: Foreign) => {
      const isQuote = quotes.isSettlement(activity["object"])
      const by = isQuote ? quotes.settled(own, self, activity) : features.settled(own, self, activity)
      return orElse(by, () => interactions.settled(own, self, activity, activityTypeOf(activity) === "Accept"))
    },
    /** Withdraws a request of the sender by its id; undefined if the id is unknown. */
    unasked: (own: Ownership, requestUri: string) =>
      Effect.map(
        orElse(control.withdrawRequest(own, requestUri), () => quoting.withdrawRequest(own, requestUri)),
        (state) =>
          state === undefined ? undefined : state === "pending" ? done : "ignored: the request was already settled"
      ),
    /** Handles the withdrawal of a consent; undefined if the object is not a consent. */
    withdrawn: (own: Ownership, object: unknown) =>
      orElse(
        features.withdrawn(own, object),
        () => orElse(quotes.revoked(own, idOf(object) ?? ""), () => interactions.revoked(own, idOf(object) ?? ""))
      )
  }
})
