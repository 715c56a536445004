import { bounded } from "../text/BoundedText.ts"
import { type Filter, filterKeywordBytesMax } from "./Filter.ts"
import { prepareKeyword } from "./FilterText.ts"
import { keywordSearch } from "./KeywordSearch.ts"

/** A filter that a status matches, and what matched. */
export interface FilterMatch {
  readonly filter: Filter
  /** As written by the owner, in the filter's order. */
  readonly keywords: ReadonlyArray<string>
  readonly statusIds: ReadonlyArray<bigint>
}

/** The filters of one account, compiled for matching. */
export interface FilterMatcher {
  /**
   * Returns the filters that a status matches, including expired ones. `ids` are the status and the one that it boosts;
   * `text` is the `prepareText` of its content.
   */
  readonly match: (ids: ReadonlyArray<bigint>, text: string) => ReadonlyArray<FilterMatch>
  /** True if no filter has the action `hide`. */
  readonly hidesNothing: boolean
  /** Approximate memory use, in bytes. */
  readonly bytes: number
}

/** Approximate bytes of a filter, and of a filtered status. */
const [filterBytes, statusBytes] = [600, 100]

const none: ReadonlyArray<FilterMatch> = []

export const filterMatcher = (filters: ReadonlyArray<Filter>): FilterMatcher => {
  const keywords = filters.flatMap((filter) =>
    filter.keywords.flatMap(({ keyword, wholeWord }) => {
      const prepared = prepareKeyword(bounded(keyword, filterKeywordBytesMax), wholeWord)
      return prepared === "" ? [] : [{ filter, keyword, prepared }]
    })
  )
  const search = keywordSearch(keywords.map(({ prepared }) => prepared))
  const statuses = new Map<bigint, Array<Filter>>()
  for (const filter of filters) {
    for (const { statusId } of filter.statuses) {
      const others = statuses.get(statusId)
      if (others === undefined) statuses.set(statusId, [filter])
      else others.push(filter)
    }
  }

  const match: FilterMatcher["match"] = (ids, text) => {
    const found = search.find(text)
    const named = ids.filter((id) => statuses.has(id))
    if (found.length === 0 && named.length === 0) return none
    const matched = found.toSorted((a, b) => a - b).flatMap((place) => keywords[place] ?? [])
    return filters.flatMap((filter) => {
      const words = matched.filter((one) => one.filter === filter).map(({ keyword }) => keyword)
      const statusIds = named.filter((id) => statuses.get(id)?.includes(filter) === true)
      return words.length === 0 && statusIds.length === 0 ? [] : [{ filter, keywords: words, statusIds }]
    })
  }
  return {
    match,
    hidesNothing: !filters.some(({ action }) => action === "hide"),
    bytes: search.bytes + filters.length * filterBytes + statuses.size * statusBytes
  }
}
