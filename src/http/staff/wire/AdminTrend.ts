import { Schema } from "effect"
import { Id, Timestamp } from "../../wire/Common.ts"
import { Flag, Text } from "../../wire/Params.ts"
import { TrendingLink } from "../../wire/PreviewCard.ts"
import { Status } from "../../wire/Status.ts"
import { Tag } from "../../wire/Tag.ts"

export const AdminTag = Schema.Struct({
  ...Tag.fields,
  trendable: Schema.Boolean,
  usable: Schema.Boolean,
  requires_review: Schema.Boolean,
  listable: Schema.Boolean
}).annotate({ identifier: "Admin::Tag" })
export type AdminTag = typeof AdminTag.Type

export const AdminTrendingStatus = Schema.Struct({ ...Status.fields, requires_review: Schema.Boolean })
  .annotate({ identifier: "Admin::Trends::Status" })
export type AdminTrendingStatus = typeof AdminTrendingStatus.Type

export const AdminTrendingLink = Schema.Struct({ ...TrendingLink.fields, id: Id, requires_review: Schema.Boolean })
  .annotate({ identifier: "Admin::Trends::Link" })
export type AdminTrendingLink = typeof AdminTrendingLink.Type

export const AdminPublisher = Schema.Struct({
  id: Id,
  domain: Schema.String,
  trendable: Schema.NullOr(Schema.Boolean),
  reviewed_at: Schema.NullOr(Timestamp),
  requested_review_at: Schema.NullOr(Timestamp),
  requires_review: Schema.Boolean
}).annotate({ identifier: "Admin::Trends::Links::PreviewCardProvider" })
export type AdminPublisher = typeof AdminPublisher.Type

const flag = Schema.optionalKey(Flag)

/** `PUT /api/v1/admin/tags/:id` */
export const TagWrite = Schema.Struct({
  displayName: Schema.optionalKey(Schema.NullOr(Text)),
  listable: flag,
  trendable: flag,
  usable: flag
}).pipe(Schema.encodeKeys({ displayName: "display_name" }))
export type TagWrite = typeof TagWrite.Type
