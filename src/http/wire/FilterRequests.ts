import { Schema } from "effect"
import { IdFromString } from "../../services/database/Ids.ts"
import { IdInBody } from "./PageQuery.ts"
import { Flag, hash, Integer, list, Text } from "./Params.ts"

export const FilterPath = { filterId: IdFromString }

const text = Schema.optionalKey(Schema.NullOr(Text))

const keyword = { keyword: text, wholeWord: Schema.optionalKey(Flag) }
const keywordKeys = { wholeWord: "whole_word" } as const

/** `POST /api/v2/filters/:id/keywords`, and updates of a keyword. */
export const KeywordRequest = Schema.Struct(keyword).pipe(Schema.encodeKeys(keywordKeys))
export type KeywordRequest = typeof KeywordRequest.Type

const KeywordAttributes = Schema.Struct({
  ...keyword,
  id: Schema.optionalKey(IdInBody),
  destroy: Schema.optionalKey(Flag)
}).pipe(Schema.encodeKeys({ ...keywordKeys, destroy: "_destroy" }))

const scope = {
  context: Schema.optionalKey(list(Schema.String)),
  /** Seconds until it expires; blank means never. */
  expiresIn: Schema.optionalKey(Integer)
}
const scopeKeys = { expiresIn: "expires_in" } as const

/** `POST /api/v2/filters`, and updates of a filter; keywords come as a list or by number, as in forms (S-083). */
export const FilterRequest = Schema.Struct({
  ...scope,
  title: text,
  filterAction: text,
  keywordsAttributes: Schema.optionalKey(
    hash(Schema.Union([Schema.Array(hash(KeywordAttributes)), Schema.Record(Schema.String, hash(KeywordAttributes))]))
  )
}).pipe(
  Schema.encodeKeys({ ...scopeKeys, filterAction: "filter_action", keywordsAttributes: "keywords_attributes" })
)
export type FilterRequest = typeof FilterRequest.Type

/** `POST /api/v1/filters`, and updates of a filter. */
export const FilterV1Request = Schema.Struct({
  ...scope,
  phrase: text,
  irreversible: Schema.optionalKey(Flag),
  wholeWord: Schema.optionalKey(Flag)
}).pipe(Schema.encodeKeys({ ...scopeKeys, ...keywordKeys }))
export type FilterV1Request = typeof FilterV1Request.Type

/** `POST /api/v2/filters/:id/statuses` */
export const FilterStatusRequest = Schema.Struct({ statusId: Schema.optionalKey(IdInBody) }).pipe(
  Schema.encodeKeys({ statusId: "status_id" })
)
