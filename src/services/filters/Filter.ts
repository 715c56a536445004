import { Schema } from "effect"
import { Timestamptz } from "../Rows.ts"

/** Where a filter is heeded (S-086). */
export const filterContexts = ["home", "notifications", "public", "thread", "account"] as const
export const FilterContext = Schema.Literals(filterContexts)
export type FilterContext = typeof FilterContext.Type

/** What becomes of a status that matches: `hide` leaves it out on the server, clients cover the others. */
export const filterActions = ["warn", "hide", "blur"] as const
export const FilterAction = Schema.Literals(filterActions)
export type FilterAction = typeof FilterAction.Type

export interface FilterKeyword {
  readonly id: bigint
  readonly keyword: string
  readonly wholeWord: boolean
}

/** A row of `filters`. */
export const FilterRow = Schema.Struct({
  id: Schema.BigInt,
  accountId: Schema.BigInt,
  title: Schema.String,
  contexts: Schema.Array(FilterContext),
  action: FilterAction,
  expiresAt: Schema.NullOr(Timestamptz)
})

/** A filter with what it looks for: keywords, and statuses by themselves. */
export interface Filter extends Readonly<typeof FilterRow.Type> {
  readonly keywords: ReadonlyArray<FilterKeyword>
  readonly statuses: ReadonlyArray<{ readonly id: bigint; readonly statusId: bigint }>
}

/** Filters of an account, their keywords and statuses in all, and characters of a title and of a keyword. */
export const filtersMax = 200
export const filterKeywordsMax = 4_000
export const filterStatusesMax = 4_000
export const filterTitleCharactersMax = 256
export const filterKeywordCharactersMax = 512
/** Bytes of a keyword that are compared: four for each character. */
export const filterKeywordBytesMax = 2_048
/** Characters of all keywords of an account, as they are compared. */
export const filterCharactersMax = 100_000
