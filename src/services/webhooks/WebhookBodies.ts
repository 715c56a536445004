import { Context, type Effect } from "effect"
import type { WebhookEvent } from "./Webhook.ts"

/** What a webhook is told of, as staff read it in the API; whoever renders that supplies it. */
export class WebhookBodies extends Context.Service<WebhookBodies, {
  /** JSON; undefined where it is not there any more, or not for everybody. */
  readonly object: (event: WebhookEvent, id: bigint) => Effect.Effect<string | undefined>
}>()("murmuration/services/webhooks/WebhookBodies") {}
