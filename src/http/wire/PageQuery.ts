import { Schema, SchemaTransformation } from "effect"
import { idMax } from "../../services/Ids.ts"
import { limitOf, type Page } from "../../services/Paging.ts"
import { Integer } from "./Params.ts"

const idOf = (text: string): bigint | undefined => {
  const id = /^[0-9]{1,19}$/.test(text) ? BigInt(text) : undefined
  return id === undefined || id > idMax ? undefined : id
}

/** An id to page by; what is none counts as not given, as Rails would have it. */
export const Cursor = Schema.String.pipe(
  Schema.decodeTo(
    Schema.UndefinedOr(Schema.BigInt),
    SchemaTransformation.transform({ decode: idOf, encode: (id) => id === undefined ? "" : String(id) })
  )
)

/** The same in a body, where JSON may hold a number. In a query that would be read as one and lose its last digits. */
export const IdInBody = Schema.Union([Schema.String, Schema.Number, Schema.Null]).pipe(
  Schema.decodeTo(
    Schema.UndefinedOr(Schema.BigInt),
    SchemaTransformation.transform({
      decode: (given) => idOf(String(given ?? "")),
      encode: (id) => id === undefined ? null : String(id)
    })
  )
)

/** What every paged list takes. */
export const pageFields = {
  maxId: Schema.optionalKey(Cursor),
  sinceId: Schema.optionalKey(Cursor),
  minId: Schema.optionalKey(Cursor),
  limit: Schema.optionalKey(Integer)
}
export const pageKeys = { maxId: "max_id", sinceId: "since_id", minId: "min_id" } as const

/** A list that takes nothing else. */
export const PageQuery = Schema.Struct(pageFields).pipe(Schema.encodeKeys(pageKeys))

/** What a request says of the page that it wants. */
export type PageParameters = Omit<Page, "limit"> & { readonly limit?: number | undefined }

/** The page that a query asks for; `defaultRows` where it names no limit, twice that at most. */
export const pageOf = ({ limit, maxId, minId, sinceId }: PageParameters, defaultRows: number): Page => ({
  maxId,
  minId,
  sinceId,
  limit: limitOf(limit, defaultRows)
})
