import { Context, Effect, Layer, Metric } from "effect"
import { HttpServerRequest, type HttpServerResponse } from "effect/http"
import { Crowded, Strangers } from "../../services/federation/Strangers.ts"
import * as AddressShares from "../guard/AddressShares.ts"
import { addressOf } from "../guard/ClientAddresses.ts"
import * as Reply from "../guard/Reply.ts"

/** Requests of other servers that one node serves at once: in all, and from one address (IPv6 by its /64). */
export const bounds = {
  /** Activities that are read, verified and written down. */
  activities: { atOnceMax: 256, perAddressMax: 64 },
  /** Documents that are asked for. */
  documents: { atOnceMax: 256, perAddressMax: 64 },
  /** Those of either kind whose sender is looked up at its own server, which may take its time. */
  strangers: { atOnceMax: 256, perAddressMax: 64 }
} as const
type Kind = "activities" | "documents"

/** When somebody who is turned away may come again, in seconds. */
const busySecondsMin = 10

const refused = Metric.counter("murmuration_federation_refused", {
  description: "Requests of other servers that were told to come back, by kind and reason",
  incremental: true
})

/** Tells a server to come back, and counts that. */
export const comeBack = (kind: Kind, reason: "busy" | "address" | "backlog") =>
  Effect.as(
    Metric.update(Metric.withAttributes(refused, { kind, reason }), 1),
    Reply.plainError(503, "There was a temporary problem serving your request, please try again", {
      "retry-after": String(busySecondsMin)
    })
  )

type Answer<E, R> = Effect.Effect<HttpServerResponse.HttpServerResponse, E, R | HttpServerRequest.HttpServerRequest>

/**
 * Lets in what can be done at once. Answers everything beyond that with 503 and `Retry-After`, before anything of the
 * request is looked at. One address has a share, so that a flood from there leaves room for everybody else.
 */
export class Admission extends Context.Service<Admission, {
  readonly admit: <E, R>(kind: Kind, answer: Answer<E, R>) => Answer<E, R>
}>()("murmuration/http/activitypub/Admission") {
  static readonly layer = Layer.sync(Admission, () => {
    const inside = {
      activities: AddressShares.make(bounds.activities),
      documents: AddressShares.make(bounds.documents)
    }
    const strangers = AddressShares.make(bounds.strangers)

    /** One place; what is done aside of it takes one of the strangers' places meanwhile. */
    const placeOf = (shares: AddressShares.AddressShares, address: string) => {
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
      const aside = <A, E, R>(work: Effect.Effect<A, E, R>): Effect.Effect<A, E | Crowded, R> =>
        Effect.suspend((): Effect.Effect<A, E | Crowded, R> => {
          if (strangers.enter(address) !== undefined) return new Crowded({ placed: held })
          return leave.pipe(
            Effect.andThen(work),
            Effect.ensuring(Effect.sync(() => strangers.leave(address))),
            Effect.flatMap((value): Effect.Effect<A, Crowded> =>
              enter() === undefined ? Effect.succeed(value) : new Crowded({ placed: false })
            )
          )
        })
      return { aside, enter, leave }
    }

    return Admission.of({
      admit: (kind, answer) =>
        Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) => {
          const { aside, enter, leave } = placeOf(inside[kind], addressOf(request))
          const refusal = enter()
          if (refusal !== undefined) return comeBack(kind, refusal)
          return Effect.ensuring(Effect.provideService(answer, Strangers, { aside }), leave)
        })
    })
  })
}
