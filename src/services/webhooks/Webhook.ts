import { Schema } from "effect"
import { Timestamptz } from "../database/Rows.ts"
import type { Permission } from "../staff/Permissions.ts"

/** Events, with the permission that a webhook's creator needs, as in Mastodon. */
export const eventPermissions = {
  "account.approved": "manageUsers",
  "account.created": "manageUsers",
  "account.updated": "manageUsers",
  "report.created": "manageReports",
  "report.updated": "manageReports",
  "status.created": "viewDevops",
  "status.updated": "viewDevops"
} as const satisfies Record<string, Permission>

export const WebhookEvent = Schema.Literals([
  "account.approved",
  "account.created",
  "account.updated",
  "report.created",
  "report.updated",
  "status.created",
  "status.updated"
])
export type WebhookEvent = typeof WebhookEvent.Type

export const Webhook = Schema.Struct({
  id: Schema.BigInt,
  url: Schema.String,
  events: Schema.Array(WebhookEvent),
  template: Schema.String,
  enabled: Schema.Boolean,
  createdAt: Timestamptz,
  updatedAt: Timestamptz,
  deliveredAt: Schema.NullOr(Timestamptz),
  failedAt: Schema.NullOr(Timestamptz),
  /** Error of the last failed try. */
  error: Schema.NullOr(Schema.String),
  /** Events given up since the last successful delivery. */
  givenUp: Schema.Int,
  /** Encrypted signing secret. */
  secret: Schema.instanceOf(Uint8Array)
})
export type Webhook = typeof Webhook.Type
