import { Schema } from "effect"
import { Timestamptz } from "../database/Rows.ts"

/** Contexts in which a filter applies (S-086). */
export const filterContexts = ["home", "notifications", "public", "thread", "account"] as const
export const FilterContext = Schema.Literals(filterContexts)
export type FilterContext = typeof FilterContext.Type

/** Actions on a status that matches: the server omits it for `hide`; clients do the others. */
export const filterActions = ["warn", "hide", "blur"] as const
export const FilterAction = Schema.Literals(filterActions)
export type FilterAction = typeof FilterAction.Type

export interface FilterKeyword {
  readonly id: bigint
  readonly keyword: string
  readonly wholeWord: boolean
}

/** Row of `filters`. */
export const FilterRow = Schema.Struct({
  id: Schema.BigInt,
  accountId: Schema.BigInt,
  title: Schema.String,
  contexts: Schema.Array(FilterContext),
  action: FilterAction,
  expiresAt: Schema.NullOr(Timestamptz)
})

/** A filter with its keywords and filtered statuses. */
export interface Filter extends Readonly<typeof FilterRow.Type> {
  readonly keywords: ReadonlyArray<FilterKeyword>
  readonly statuses: ReadonlyArray<{ readonly id: bigint; readonly statusId: bigint }>
}

/** Maximum filters, keywords and statuses of an account, and maximum characters of a title and of a keyword. */
export const filtersMax = 200
export const filterKeywordsMax = 4_000
export const filterStatusesMax = 4_000
export const filterTitleCharactersMax = 256
export const filterKeywordCharactersMax = 512
/** Maximum bytes of a keyword that are compared: four for each character. */
export const filterKeywordBytesMax = 2_048
/** Maximum characters of all keywords of an account, as compared. */
export const filterCharactersMax = 100_000
