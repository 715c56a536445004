import { Context, Effect, Layer, Metric } from "effect"
import { HttpServerRequest, type HttpServerResponse } from "effect/http"
import { Crowded, InboxSlots } from "../../services/federation/InboxSlots.ts"
import * as AddressShares from "../guard/AddressShares.ts"
import { addressOf } from "../guard/ClientAddresses.ts"
import * as Reply from "../guard/Reply.ts"

/** Maximum concurrent requests of other servers on a node: in total, and per address (IPv6 by its /64). */
export const bounds = {
  /** Activities that are read, verified and stored. */
  activities: { atOnceMax: 256, perAddressMax: 64 },
  /** Requests for documents. */
  documents: { atOnceMax: 256, perAddressMax: 64 },
  /** Requests of either kind whose sender is fetched from its own server, which may be slow. */
  strangers: { atOnceMax: 256, perAddressMax: 64 }
} as const
type Kind = "activities" | "documents"

/** Retry delay for a refused request, in seconds. */
const busySecondsMin = 10

const refused = Metric.counter("murmuration_federation_refused_total", {
  description: "Requests of other servers that were told to come back, by kind and reason",
  incremental: true
})

/** Responds 503 with `Retry-After`, and counts the refusal. */
export const refuseBusy = (kind: Kind, reason: "busy" | "address" | "backlog") =>
  Effect.as(
    Metric.update(Metric.withAttributes(refused, { kind, reason }), 1),
    Reply.plainError(503, "There was a temporary problem serving your request, please try again", {
      "retry-after": String(busySecondsMin)
    })
  )

type Handled<E, R> = Effect.Effect<HttpServerResponse.HttpServerResponse, E, R | HttpServerRequest.HttpServerRequest>

/**
 * Admits as many requests as can be handled at once. Any other gets 503 and `Retry-After` before the request is
 * examined. Each address has a limit, so that a flood from one leaves capacity for all others.
 */
export class Admission extends Context.Service<Admission, {
  readonly admit: <E, R>(kind: Kind, handler: Handled<E, R>) => Handled<E, R>
}>()("murmuration/http/activitypub/Admission") {
  static readonly layer = Layer.sync(Admission, () => {
    const shares = {
      activities: AddressShares.make(bounds.activities),
      documents: AddressShares.make(bounds.documents)
    }
    const unknownSenders = AddressShares.make(bounds.strangers)

    /** A slot of a request. While its sender is fetched, the request takes a slot of the strangers instead. */
    const slotOf = (shares: AddressShares.AddressShares, address: string) => {
      let held = false
      const enter = () => {
        const refusal = shares.enter(address)
        held = refusal === undefined
        return refusal
      }
      const leave = Effect.sync(() => {
        if (held) shares.leave(address)
        held = false
      })
      const withoutSlot = <A, E, R>(work: Effect.Effect<A, E, R>): Effect.Effect<A, E | Crowded, R> =>
        Effect.suspend((): Effect.Effect<A, E | Crowded, R> => {
          if (unknownSenders.enter(address) !== undefined) return new Crowded({ placed: held })
          return leave.pipe(
            Effect.andThen(work),
            Effect.ensuring(Effect.sync(() => unknownSenders.leave(address))),
            Effect.flatMap((value): Effect.Effect<A, Crowded> =>
              enter() === undefined ? Effect.succeed(value) : new Crowded({ placed: false })
            )
          )
        })
      return { withoutSlot, enter, leave }
    }

    return Admission.of({
      admit: (kind, handler) =>
        Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) => {
          const { withoutSlot, enter, leave } = slotOf(shares[kind], addressOf(request))
          const refusal = enter()
          if (refusal !== undefined) return refuseBusy(kind, refusal)
          return Effect.ensuring(Effect.provideService(handler, InboxSlots, { withoutSlot }), leave)
        })
    })
  })
}
