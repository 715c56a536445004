import type { Filter, FilterKeyword } from "../../services/filters/Filter.ts"
import type { FilterMatch } from "../../services/filters/FilterMatcher.ts"
import { id, timestampOrNull } from "../wire/Common.ts"
import type * as Wire from "../wire/Filter.ts"
import type { Values } from "../wire/Keys.ts"

/** Returns a filter without keywords and statuses, as in results. */
const headOf = ({ action, contexts, expiresAt, id: filterId, title }: Filter): Values<Wire.Filter> => ({
  id: id(filterId),
  title,
  context: contexts,
  expiresAt: timestampOrNull(expiresAt),
  filterAction: action
})

export const keywordValues = (keyword: FilterKeyword): Values<Wire.FilterKeyword> => ({
  ...keyword,
  id: id(keyword.id)
})

export const filterStatusValues = (entry: Filter["statuses"][number]): Values<Wire.FilterStatus> => ({
  id: id(entry.id),
  statusId: id(entry.statusId)
})

export const filterValues = (filter: Filter): Values<Wire.Filter> => ({
  ...headOf(filter),
  keywords: filter.keywords.map(keywordValues),
  statuses: filter.statuses.map(filterStatusValues)
})

/** Returns a keyword with its filter, in the v1 form. */
export const filterV1Values = (
  { action, contexts, expiresAt }: Filter,
  { id: keywordId, keyword, wholeWord }: FilterKeyword
): Values<Wire.FilterV1> => ({
  id: id(keywordId),
  phrase: keyword,
  context: contexts,
  wholeWord,
  expiresAt: timestampOrNull(expiresAt),
  irreversible: action === "hide"
})

export const resultValues = ({ filter, keywords, statusIds }: FilterMatch): Values<Wire.FilterResult> => ({
  filter: headOf(filter),
  keywordMatches: keywords.length === 0 ? null : keywords,
  statusMatches: statusIds.length === 0 ? null : statusIds.map(id)
})
