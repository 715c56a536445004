import { Effect, Layer } from "effect"
import { createHmac } from "node:crypto"
import { Outbound } from "../../services/outbound/Outbound.ts"
import { WebhookBodies } from "../../services/webhooks/WebhookBodies.ts"
import { WebhookDeliveries, type WebhookDelivery } from "../../services/webhooks/WebhookDeliveries.ts"
import { Webhooks } from "../../services/webhooks/Webhooks.ts"
import { templated } from "../../services/webhooks/WebhookTemplates.ts"
import { claiming } from "./ClaimRounds.ts"

/** Webhooks that a node talks to at once. */
const webhooksAtOnceMax = 16
/** Beside them webhooks that take their time. */
const slowWebhooks = { millis: 2_000, atOnceMax: 20 }

/** What came of one try: nothing to tell, taken, or why not and whether another one may go better. */
type Outcome = "unwanted" | "taken" | { readonly reason: string; readonly again: boolean }

const outcomeOf = (status: number): Outcome =>
  status >= 200 && status < 300
    ? "taken"
    // What a program does not understand it will not understand later.
    : { reason: `HTTP ${status}`, again: status < 400 || status >= 500 || [401, 408, 429].includes(status) }

const make = Effect.gen(function*() {
  const bodies = yield* WebhookBodies
  const deliveries = yield* WebhookDeliveries
  const outbound = yield* Outbound
  const webhooks = yield* Webhooks

  const send = Effect.fnUntraced(
    function*({ event, objectId, place, toldAt, webhookId }: WebhookDelivery): Effect.fn.Return<
      Outcome
    > {
      const webhook = yield* Effect.catchTag(
        webhooks.find(webhookId),
        "RecordNotFound",
        () => Effect.succeed(undefined)
      )
      if (webhook === undefined || !webhook.enabled) return "unwanted"
      const object = yield* bodies.object(event, objectId)
      if (object === undefined) return "unwanted"
      const secret = webhooks.secretOf(webhook)
      if (secret === undefined) return { reason: "its secret cannot be read", again: true }
      const head = JSON.stringify({ event, ["created_at"]: toldAt.toISOString() }).slice(0, -1)
      const text = templated(webhook.template, `${head},"object":${object}}`)
      if (text === undefined) return { reason: "its template makes too much of it", again: false }
      const body = new TextEncoder().encode(text)
      const signature = createHmac("sha256", secret).update(body).digest("hex")
      const headers = {
        "content-type": "application/json",
        "x-hub-signature": `sha256=${signature}`,
        // The same at each try, for who keeps what has come.
        "x-hub-delivery": String(place)
      }
      return yield* outbound.post({ url: webhook.url, headers, body, what: "push" }).pipe(
        Effect.map(({ status }) => outcomeOf(status)),
        Effect.catchTags({
          Refused: ({ message }) => Effect.succeed<Outcome>({ reason: message, again: false }),
          Unreachable: ({ message }) => Effect.succeed<Outcome>({ reason: message, again: true })
        })
      )
    }
  )

  /** The events of a webhook, one after the other, as long as they are taken. */
  const drain = Effect.fnUntraced(function*(first: WebhookDelivery) {
    let delivery: WebhookDelivery | undefined = first
    while (delivery !== undefined) {
      const outcome: Outcome = yield* send(delivery)
      if (typeof outcome === "object") return yield* deliveries.retry(delivery, outcome.reason, outcome.again)
      delivery = yield* deliveries.complete(delivery, outcome === "taken")
    }
  })

  yield* claiming({
    what: "webhooks",
    atOnceMax: webhooksAtOnceMax,
    slow: slowWebhooks,
    claim: deliveries.claim,
    run: drain
  })
})

/**
 * Tells webhooks what happened: on every node, each webhook by one of them at a time, its events in their order, at least once. One
 * that does not answer costs its own events.
 */
export const layer = Layer.effectDiscard(make).pipe(Layer.provide(WebhookDeliveries.layer))
