import { Schema } from "effect"
import { Count, Id, Timestamp } from "../../wire/Common.ts"
import { Flag, Integer, Text } from "../../wire/Params.ts"

/** A moderation list by others; `list_action` applies to domains that the list only names. */
export const AdminModerationList = Schema.Struct({
  id: Id,
  name: Schema.String,
  url: Schema.String,
  type: Schema.Literals(["csv", "fires"]),
  list_action: Schema.Literals(["accept", "reject"]),
  priority: Schema.Int,
  apply_automatically: Schema.Boolean,
  retract_automatically: Schema.Boolean,
  preserve_relationships: Schema.Boolean,
  override_unattributed: Schema.Boolean,
  created_at: Timestamp,
  last_synced_at: Schema.NullOr(Timestamp),
  last_error: Schema.NullOr(Schema.String)
}).annotate({ identifier: "Admin::ModerationList" })
export type AdminModerationList = typeof AdminModerationList.Type

const text = Schema.optionalKey(Schema.NullOr(Text))
const flag = Schema.optionalKey(Flag)
export const ListWrite = Schema.Struct({
  name: text,
  url: text,
  type: text,
  listAction: text,
  priority: Schema.optionalKey(Integer),
  applyAutomatically: flag,
  retractAutomatically: flag,
  preserveRelationships: flag,
  overrideUnattributed: flag
}).pipe(Schema.encodeKeys({
  listAction: "list_action",
  applyAutomatically: "apply_automatically",
  retractAutomatically: "retract_automatically",
  preserveRelationships: "preserve_relationships",
  overrideUnattributed: "override_unattributed"
}))
export type ListWrite = typeof ListWrite.Type

export const AdminModerationSuggestion = Schema.Struct({
  id: Id,
  domain: Schema.String,
  action: Schema.Literals(["retract", "accept", "limit", "reject"]),
  state: Schema.Literals(["new", "applied", "dismissed"]),
  list_id: Schema.NullOr(Id),
  created_at: Timestamp
}).annotate({ identifier: "Admin::ModerationSuggestion" })
export type AdminModerationSuggestion = typeof AdminModerationSuggestion.Type

/** Confirmation, without which nothing that ends follows is applied. */
export const Confirmed = Schema.Struct({ confirm: flag })

/** Domain blocks as CSV, in Mastodon's export format. */
export const BlockCsv = Schema.Struct({ data: text })
export const BlockCsvText = Schema.Struct({ data: Schema.String })
export type BlockCsvText = typeof BlockCsvText.Type

export const AdminBlockPreview = Schema.Struct({
  entries: Schema.Array(Schema.Struct({
    domain: Schema.String,
    severity: Schema.Literals(["silence", "suspend"]),
    reject_media: Schema.Boolean,
    reject_reports: Schema.Boolean,
    public_comment: Schema.NullOr(Schema.String),
    obfuscate: Schema.Boolean,
    known: Schema.Boolean
  })),
  skipped: Count
}).annotate({ identifier: "Admin::BlockPreview" })
export type AdminBlockPreview = typeof AdminBlockPreview.Type

export const ImportedBlocks = Schema.Struct({ made: Count })
export type ImportedBlocks = typeof ImportedBlocks.Type
