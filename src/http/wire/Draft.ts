import { Schema } from "effect"
import { Id, Timestamp } from "./Common.ts"
import { MediaAttachment } from "./MediaAttachment.ts"
import { ScheduledParams } from "./ScheduledStatus.ts"

/** A draft, beyond Mastodon: like a scheduled status without a time. */
export const Draft = Schema.Struct({
  id: Id,
  created_at: Timestamp,
  updated_at: Timestamp,
  params: ScheduledParams,
  media_attachments: Schema.Array(MediaAttachment)
}).annotate({ identifier: "Draft" })
export type Draft = typeof Draft.Type
