import { Schema, Struct } from "effect"
import { Timestamptz } from "../database/Rows.ts"
import { StoredPolicy } from "./InteractionPolicy.ts"
import { Visibility } from "./Visibility.ts"
import { Written, writtenFields } from "./Written.ts"

/** Markup types of texts. */
export const contentTypes = ["text/plain", "text/markdown"] as const
export const ContentType = Schema.Literals(contentTypes)
export type ContentType = typeof ContentType.Type
export const isContentType = Schema.is(ContentType)

/** The declaration of a status: a row of `statuses`, one field for each column. Other types pick from it. */
export const StoredStatus = Schema.Struct({
  id: Schema.BigInt,
  accountId: Schema.BigInt,
  /** Id and page URL if remote, otherwise null. */
  uri: Schema.NullOr(Schema.String),
  url: Schema.NullOr(Schema.String),
  local: Schema.Boolean,
  /** Source text; "" if remote. */
  text: Schema.String,
  contentType: ContentType,
  /** Sanitised. */
  html: Schema.String,
  ...Written.fields,
  visibility: Visibility,
  /** Interaction policy. */
  interactionPolicy: StoredPolicy,
  /** A direct status with further readers than those mentioned. Clients see it as followers-only. */
  limited: Schema.Boolean,
  /** Visible to this server only: not on public pages, in documents, or in responses to anyone else. */
  localOnly: Schema.Boolean,
  inReplyToId: Schema.NullOr(Schema.BigInt),
  inReplyToAccountId: Schema.NullOr(Schema.BigInt),
  /** Id of the parent, until it is fetched. */
  inReplyToUri: Schema.NullOr(Schema.String),
  reblogOfId: Schema.NullOr(Schema.BigInt),
  /** Id of the status that started the conversation. */
  conversationId: Schema.BigInt,
  applicationId: Schema.NullOr(Schema.BigInt),
  /** Brought in from an archive: backdated, not federated, and not in any home, list or public timeline. */
  imported: Schema.Boolean,
  /** Files in display order. */
  mediaIds: Schema.Array(Schema.BigInt),
  createdAt: Timestamptz,
  editedAt: Schema.NullOr(Timestamptz),
  deletedAt: Schema.NullOr(Timestamptz)
})
export type StoredStatus = typeof StoredStatus.Type

/** Fields that an edit may change and a revision stores. */
export const revisedFields = ["text", "contentType", "html", ...writtenFields, "mediaIds"] as const
export const Revised = StoredStatus.mapFields(Struct.pick(revisedFields))
export type Revised = typeof Revised.Type
