import { Schema, SchemaTransformation } from "effect"
import { parseId } from "../../services/database/Ids.ts"
import { limitOf, type Page } from "../../services/database/Paging.ts"
import { Integer } from "./Params.ts"

/** Id to page by; an invalid one counts as absent, as in Rails. */
export const Cursor = Schema.String.pipe(
  Schema.decodeTo(
    Schema.UndefinedOr(Schema.BigInt),
    SchemaTransformation.transform({ decode: parseId, encode: (id) => id === undefined ? "" : String(id) })
  )
)

/**
 * A cursor in a body, where JSON may have a number. In a query it would be parsed as a number, and lose its last
 * digits.
 */
export const IdInBody = Schema.Union([Schema.String, Schema.Number, Schema.Null]).pipe(
  Schema.decodeTo(
    Schema.UndefinedOr(Schema.BigInt),
    SchemaTransformation.transform({
      decode: (given) => parseId(String(given ?? "")),
      encode: (id) => id === undefined ? null : String(id)
    })
  )
)

/** Parameters of every paged list. */
export const pageFields = {
  maxId: Schema.optionalKey(Cursor),
  sinceId: Schema.optionalKey(Cursor),
  minId: Schema.optionalKey(Cursor),
  limit: Schema.optionalKey(Integer)
}
export const pageKeys = { maxId: "max_id", sinceId: "since_id", minId: "min_id" } as const

/** Parameters of a list that takes no others. */
export const PageQuery = Schema.Struct(pageFields).pipe(Schema.encodeKeys(pageKeys))

/** Parameters of the requested page. */
export type PageParameters = Omit<Page, "limit"> & { readonly limit?: number | undefined }

/** Returns the requested page; `defaultRows` without a limit, twice that at most. */
export const pageOf = ({ limit, maxId, minId, sinceId }: PageParameters, defaultRows: number): Page => ({
  maxId,
  minId,
  sinceId,
  limit: limitOf(limit, defaultRows)
})
