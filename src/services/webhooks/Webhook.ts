import { Schema } from "effect"
import { Timestamptz } from "../Rows.ts"
import type { Permission } from "../staff/Permissions.ts"

/** What other programs may hear of, by the permission that its maker has to have, as in Mastodon. */
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
  /** Why it failed the last time. */
  error: Schema.NullOr(Schema.String),
  /** Events that were given up since one was taken. */
  givenUp: Schema.Int,
  /** Sealed. */
  secret: Schema.instanceOf(Uint8Array)
})
export type Webhook = typeof Webhook.Type
