import { Effect, Layer, Metric } from "effect"
import { ServerConfig } from "../../services/instance/ServerConfig.ts"
import { type Push, Pushes } from "../../services/intents/Pushes.ts"
import { Outbound, type Reply } from "../../services/outbound/Outbound.ts"
import { PushContents } from "../../services/push/PushContents.ts"
import { PushMessages } from "../../services/push/PushMessages.ts"
import { PushSubscriptions } from "../../services/push/PushSubscriptions.ts"
import { continued } from "../../services/runtime/TraceParents.ts"
import { runClaimed } from "./ClaimRounds.ts"

/** Maximum subscriptions that a node sends to at once. */
const subscriptionsAtOnceMax = 64
/** Limits of subscriptions whose service is slow; they run besides the others. */
const slowSubscriptions = { millis: 2_000, atOnceMax: 1_000 }

const sent = Metric.counter("murmuration_pushes_total", { description: "Messages to push services, by outcome" })

type Outcome = "taken" | "unwanted" | "gone" | "refused" | { readonly againMillis: number }

/**
 * Returns the outcome of a push service's status (RFC 8030): 408, 429, redirects and 5xx are retried, any other refusal
 * ends the subscription.
 */
const outcomeOf = ({ retryAfterSeconds, status }: Reply): Outcome => {
  if (status >= 200 && status < 300) return "taken"
  const passes = status === 408 || status === 429 || status < 400 || status >= 500
  return passes ? { againMillis: (retryAfterSeconds ?? 0) * 1_000 } : "gone"
}

const make = Effect.gen(function*() {
  const contents = yield* PushContents
  const messages = yield* PushMessages
  const outbound = yield* Outbound
  const pushes = yield* Pushes
  const subscriptions = yield* PushSubscriptions
  const { mailFrom } = yield* ServerConfig

  const send = Effect.fnUntraced(function*(push: Push): Effect.fn.Return<Outcome> {
    const content = yield* contents.of(push)
    if (content === undefined) return "unwanted"
    const { endpoint } = content.receiver
    const outcome = yield* messages.message(content.receiver, content.text, mailFrom).pipe(
      Effect.flatMap(({ body, headers }) => outbound.post({ url: endpoint, headers, body, purpose: "push" })),
      Effect.map(outcomeOf),
      Effect.catchTags({
        InvalidKeys: () => Effect.succeed<Outcome>("refused"),
        Refused: () => Effect.succeed<Outcome>("refused"),
        Unreachable: () => Effect.succeed<Outcome>({ againMillis: 0 })
      })
    )
    if (outcome === "gone") yield* subscriptions.expire(push.subscriptionId, endpoint)
    return outcome
  })

  /** Sends a subscription's due pushes in order. */
  const drain = Effect.fnUntraced(function*(first: Push) {
    let push: Push | undefined = first
    while (push !== undefined) {
      const outcome: Outcome = yield* send(push).pipe(
        continued("PushRunner.send", push.traceParent, { tries: push.tries })
      )
      yield* Metric.update(Metric.withAttributes(sent, { outcome: typeof outcome === "object" ? "again" : outcome }), 1)
      if (typeof outcome === "object") return yield* pushes.retry(push, outcome.againMillis)
      push = yield* pushes.complete(push)
    }
  })

  yield* runClaimed({
    workName: "pushes",
    atOnceMax: subscriptionsAtOnceMax,
    slow: slowSubscriptions,
    claim: pushes.claim,
    run: drain
  })
})

/**
 * Sends push notifications on every node, each subscription from one node at a time, its notifications in order and at
 * least once. A push service that does not respond delays only its own subscriptions; a subscription that it calls gone
 * is deleted.
 */
export const layer = Layer.effectDiscard(make)
