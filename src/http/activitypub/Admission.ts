import { Context, Effect, Layer, Metric, Option } from "effect"
import { HttpServerRequest, type HttpServerResponse } from "effect/http"
import { addressKey } from "../guard/Guard.ts"
import * as Reply from "../guard/Reply.ts"

/** What is done for other servers at once on one node, and for one address (an IPv6 address by its /64). */
export const bounds = {
  /** Activities that are read, verified and written down. */
  activities: { atOnceMax: 256, perAddressMax: 64 },
  /** Documents that are asked for. */
  documents: { atOnceMax: 256, perAddressMax: 64 }
} as const
export type Kind = keyof typeof bounds

/** When somebody who is turned away may come again, in seconds. */
export const busySecondsMin = 10

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
 * Lets in what can be done at once, and answers everything beyond that at once, too: 503 with `Retry-After`, before anything
 * of the request is looked at. One address has a share, so that a flood from there leaves room for everybody else.
 */
export class Admission extends Context.Service<Admission, {
  readonly admit: <E, R>(kind: Kind, answer: Answer<E, R>) => Answer<E, R>
}>()("murmuration/http/activitypub/Admission") {
  static readonly layer = Layer.sync(Admission, () => {
    const inside = {
      activities: { all: 0, by: new Map<string, number>() },
      documents: { all: 0, by: new Map<string, number>() }
    }
    return Admission.of({
      admit: (kind, answer) =>
        Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) => {
          const address = addressKey(Option.getOrElse(request.remoteAddress, () => "unknown"))
          const here = inside[kind]
          const count = here.by.get(address) ?? 0
          if (here.all >= bounds[kind].atOnceMax) return comeBack(kind, "busy")
          if (count >= bounds[kind].perAddressMax) return comeBack(kind, "address")
          here.all++
          here.by.set(address, count + 1)
          const leave = Effect.sync(() => {
            const left = (here.by.get(address) ?? 1) - 1
            here.all--
            if (left === 0) here.by.delete(address)
            else here.by.set(address, left)
          })
          return Effect.ensuring(answer, leave)
        })
    })
  })
}
