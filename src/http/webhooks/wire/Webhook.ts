import { Schema } from "effect"
import { WebhookEvent } from "../../../services/webhooks/Webhook.ts"
import { Count, Id, Timestamp } from "../../wire/Common.ts"
import { Flag, list, Text } from "../../wire/Params.ts"

/** `waiting_count` events are pending; `given_up_count` were given up since the last success. */
export const AdminWebhook = Schema.Struct({
  id: Id,
  url: Schema.String,
  events: Schema.Array(WebhookEvent),
  template: Schema.String,
  secret: Schema.NullOr(Schema.String),
  enabled: Schema.Boolean,
  created_at: Timestamp,
  updated_at: Timestamp,
  last_delivered_at: Schema.NullOr(Timestamp),
  last_failed_at: Schema.NullOr(Timestamp),
  last_error: Schema.NullOr(Schema.String),
  waiting_count: Count,
  given_up_count: Count
}).annotate({ identifier: "Admin::Webhook" })
export type AdminWebhook = typeof AdminWebhook.Type

const text = Schema.optionalKey(Schema.NullOr(Text))
export const WebhookWrite = Schema.Struct({
  url: text,
  events: Schema.optionalKey(list(Text)),
  template: text,
  enabled: Schema.optionalKey(Flag)
})
export type WebhookWrite = typeof WebhookWrite.Type
