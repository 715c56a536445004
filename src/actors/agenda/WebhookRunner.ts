import { Effect, Layer } from "effect"
import { createHmac } from "node:crypto"
import { Outbound } from "../../services/outbound/Outbound.ts"
import { WebhookBodies } from "../../services/webhooks/WebhookBodies.ts"
import { WebhookDeliveries, type WebhookDelivery } from "../../services/webhooks/WebhookDeliveries.ts"
import { Webhooks } from "../../services/webhooks/Webhooks.ts"
import { render } from "../../services/webhooks/WebhookTemplates.ts"
import { runClaimed } from "./ClaimRounds.ts"

/** Maximum webhooks that a node calls at once. */
const webhooksAtOnceMax = 16
/** Limits of slow webhooks; they run besides the others. */
const slowWebhooks = { millis: 2_000, atOnceMax: 20 }

/** Outcome of an attempt: nothing to send, accepted, or the failure's reason and whether to retry. */
type Outcome = "unwanted" | "taken" | { readonly reason: string; readonly retryable: boolean }

const outcomeOf = (status: number): Outcome =>
  status >= 200 && status < 300
    ? "taken"
    // A receiver that rejects a request will reject it on a retry, too.
    : { reason: `HTTP ${status}`, retryable: status < 400 || status >= 500 || [401, 408, 429].includes(status) }

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
      if (secret === undefined) return { reason: "the secret cannot be decrypted", retryable: true }
      const head = JSON.stringify({ event, ["created_at"]: toldAt.toISOString() }).slice(0, -1)
      const text = render(webhook.template, `${head},"object":${object}}`)
      if (text === undefined) return { reason: "the rendered template is too large", retryable: false }
      const body = new TextEncoder().encode(text)
      const signature = createHmac("sha256", secret).update(body).digest("hex")
      const headers = {
        "content-type": "application/json",
        "x-hub-signature": `sha256=${signature}`,
        // Does not change between attempts, so that receivers can dedupe.
        "x-hub-delivery": String(place)
      }
      return yield* outbound.post({ url: webhook.url, headers, body, purpose: "push" }).pipe(
        Effect.map(({ status }) => outcomeOf(status)),
        Effect.catchTags({
          Refused: ({ message }) => Effect.succeed<Outcome>({ reason: message, retryable: false }),
          Unreachable: ({ message }) => Effect.succeed<Outcome>({ reason: message, retryable: true })
        })
      )
    }
  )

  /** Sends a webhook's due events in order, while they are accepted. */
  const drain = Effect.fnUntraced(function*(first: WebhookDelivery) {
    let delivery: WebhookDelivery | undefined = first
    while (delivery !== undefined) {
      const outcome: Outcome = yield* send(delivery)
      if (typeof outcome === "object") return yield* deliveries.retry(delivery, outcome.reason, outcome.retryable)
      delivery = yield* deliveries.complete(delivery, outcome === "taken")
    }
  })

  yield* runClaimed({
    workName: "webhooks",
    atOnceMax: webhooksAtOnceMax,
    slow: slowWebhooks,
    claim: deliveries.claim,
    run: drain
  })
})

/**
 * Calls webhooks on every node, each webhook from one node at a time, its events in order and at least once. A webhook
 * that does not respond delays only its own events.
 */
export const layer = Layer.effectDiscard(make).pipe(Layer.provide(WebhookDeliveries.layer))
