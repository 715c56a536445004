import { Schema } from "effect"
import { Id, Timestamp } from "./Common.ts"

const Context = Schema.Literals(["home", "notifications", "public", "thread", "account"])

export const FilterKeyword = Schema.Struct({ id: Id, keyword: Schema.String, whole_word: Schema.Boolean })
  .annotate({ identifier: "FilterKeyword" })
const FilterStatus = Schema.Struct({ id: Id, status_id: Id }).annotate({ identifier: "FilterStatus" })

/** Keywords and statuses are absent inside a FilterResult. */
export const Filter = Schema.Struct({
  id: Id,
  title: Schema.String,
  context: Schema.Array(Context),
  expires_at: Schema.NullOr(Timestamp),
  filter_action: Schema.Literals(["warn", "hide", "blur"]),
  keywords: Schema.optionalKey(Schema.Array(FilterKeyword)),
  statuses: Schema.optionalKey(Schema.Array(FilterStatus))
}).annotate({ identifier: "Filter" })

export const FilterResult = Schema.Struct({
  filter: Filter,
  keyword_matches: Schema.NullOr(Schema.Array(Schema.String)),
  status_matches: Schema.NullOr(Schema.Array(Id))
}).annotate({ identifier: "FilterResult" })

/** The older form: one a keyword, whose id it has. */
export const FilterV1 = Schema.Struct({
  id: Id,
  phrase: Schema.String,
  context: Schema.Array(Context),
  whole_word: Schema.Boolean,
  expires_at: Schema.NullOr(Timestamp),
  irreversible: Schema.Boolean
}).annotate({ identifier: "V1Filter" })
