import { Context, Effect, Layer, Metric } from "effect"
import { HttpServerRequest, type HttpServerResponse } from "effect/http"
import * as AddressShares from "../guard/AddressShares.ts"
import { addressOf } from "../guard/ClientAddresses.ts"
import * as Reply from "../guard/Reply.ts"

/** Requests of other servers that one node serves at once: in all, and from one address (IPv6 by its /64). */
export const bounds = {
  /** Activities that are read, verified and written down. */
  activities: { atOnceMax: 256, perAddressMax: 64 },
  /** Documents that are asked for. */
  documents: { atOnceMax: 256, perAddressMax: 64 }
} as const
type Kind = keyof typeof bounds

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
    return Admission.of({
      admit: (kind, answer) =>
        Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) => {
          const address = addressOf(request)
          const refusal = inside[kind].enter(address)
          if (refusal !== undefined) return comeBack(kind, refusal)
          return Effect.ensuring(answer, Effect.sync(() => inside[kind].leave(address)))
        })
    })
  })
}
