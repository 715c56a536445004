import { Schema } from "effect"
import { FilterAction, FilterContext } from "../../services/filters/Filter.ts"
import { Id, Timestamp } from "./Common.ts"

export const FilterKeyword = Schema.Struct({ id: Id, keyword: Schema.String, whole_word: Schema.Boolean })
  .annotate({ identifier: "FilterKeyword" })
export type FilterKeyword = typeof FilterKeyword.Type
export const FilterStatus = Schema.Struct({ id: Id, status_id: Id }).annotate({ identifier: "FilterStatus" })
export type FilterStatus = typeof FilterStatus.Type

/** Keywords and statuses are absent inside a FilterResult. */
export const Filter = Schema.Struct({
  id: Id,
  title: Schema.String,
  context: Schema.Array(FilterContext),
  expires_at: Schema.NullOr(Timestamp),
  filter_action: FilterAction,
  keywords: Schema.optionalKey(Schema.Array(FilterKeyword)),
  statuses: Schema.optionalKey(Schema.Array(FilterStatus))
}).annotate({ identifier: "Filter" })
export type Filter = typeof Filter.Type

export const FilterResult = Schema.Struct({
  filter: Filter,
  keyword_matches: Schema.NullOr(Schema.Array(Schema.String)),
  status_matches: Schema.NullOr(Schema.Array(Id))
}).annotate({ identifier: "FilterResult" })
export type FilterResult = typeof FilterResult.Type

/** A v1 filter: one per keyword, whose id it has. */
export const FilterV1 = Schema.Struct({
  id: Id,
  phrase: Schema.String,
  context: Schema.Array(FilterContext),
  whole_word: Schema.Boolean,
  expires_at: Schema.NullOr(Timestamp),
  irreversible: Schema.Boolean
}).annotate({ identifier: "V1Filter" })
export type FilterV1 = typeof FilterV1.Type
