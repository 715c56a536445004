import { Schema, Struct } from "effect"
import { Timestamptz } from "../Rows.ts"
import { StoredPolicy } from "./InteractionPolicy.ts"
import { Visibility } from "./Visibility.ts"
import { Written, writtenFields } from "./Written.ts"

/** How a text may be written. */
export const contentTypes = ["text/plain", "text/markdown"] as const
export const ContentType = Schema.Literals(contentTypes)
export type ContentType = typeof ContentType.Type

/** THE declaration of a status: a row of `statuses`, a field a column. Users of a part pick it. */
export const StoredStatus = Schema.Struct({
  id: Schema.BigInt,
  accountId: Schema.BigInt,
  /** Its id and its page where it comes from another server, else null. */
  uri: Schema.NullOr(Schema.String),
  url: Schema.NullOr(Schema.String),
  local: Schema.Boolean,
  /** As its author wrote it; "" where it comes from another server. */
  text: Schema.String,
  contentType: ContentType,
  /** Sanitised. */
  html: Schema.String,
  ...Written.fields,
  visibility: Visibility,
  /** Who may do what with it. */
  interactionPolicy: StoredPolicy,
  /** A direct one that is also for people whom it does not name. Clients know it as one for followers. */
  limited: Schema.Boolean,
  /** For people of this server alone: it is on no page, in no document and in no answer to anybody else. */
  localOnly: Schema.Boolean,
  inReplyToId: Schema.NullOr(Schema.BigInt),
  inReplyToAccountId: Schema.NullOr(Schema.BigInt),
  /** The id of what it answers, as long as that is not here. */
  inReplyToUri: Schema.NullOr(Schema.String),
  reblogOfId: Schema.NullOr(Schema.BigInt),
  /** The id of the status that began the conversation. */
  conversationId: Schema.BigInt,
  applicationId: Schema.NullOr(Schema.BigInt),
  /** Files in the order in which they are shown. */
  mediaIds: Schema.Array(Schema.BigInt),
  createdAt: Timestamptz,
  editedAt: Schema.NullOr(Timestamptz),
  deletedAt: Schema.NullOr(Timestamptz)
})
export type StoredStatus = typeof StoredStatus.Type

/** What an edit may change, and a revision keeps. */
export const revisedFields = ["text", "contentType", "html", ...writtenFields, "mediaIds"] as const
export const Revised = StoredStatus.mapFields(Struct.pick(revisedFields))
export type Revised = typeof Revised.Type
