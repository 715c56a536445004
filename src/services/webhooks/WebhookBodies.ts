import { Context, type Effect } from "effect"
import type { WebhookEvent } from "./Webhook.ts"

/** Bodies of webhook events, as in the admin API; the renderer supplies the service. */
export class WebhookBodies extends Context.Service<WebhookBodies, {
  /** Returns the JSON of an event's object; undefined if it no longer exists or is not public. */
  readonly object: (event: WebhookEvent, id: bigint) => Effect.Effect<string | undefined>
}>()("murmuration/services/webhooks/WebhookBodies") {}
