import { Clock, Effect } from "effect"
import { LRUCache } from "lru-cache"
import type { AccountId } from "../../services/database/Ids.ts"
import type { ActiveFilters } from "../../services/filters/ActiveFilters.ts"
import type { FilterContext } from "../../services/filters/Filter.ts"
import type { FilterMatch, FilterMatcher } from "../../services/filters/FilterMatcher.ts"
import { prepareText } from "../../services/filters/FilterText.ts"
import { plainText } from "../../services/html/PlainText.ts"
import type { StatusKey } from "../../services/statuses/ViewerState.ts"
import { bounded } from "../../services/text/BoundedText.ts"
import { mapWithYields } from "../../services/text/Turns.ts"
import type { FilterResult } from "../wire/Filter.ts"
import { encode, json, type JsonOf } from "../wire/Keys.ts"
import { textsOf } from "../wire/StatusJson.ts"
import { resultValues } from "./FilterValues.ts"
import type { PreparedStatus } from "./StatusBodies.ts"

/** Maximum bytes of cached search texts and their sources. */
const textCacheBytesMax = 24 * 1024 * 1024
/** Maximum cached verdicts per viewer; the oldest are evicted. */
const verdictsMax = 200

/** Result of a viewer's filters for a status. */
interface FilterVerdict {
  readonly filtered: JsonOf<ReadonlyArray<FilterResult>>
  /** Contexts in which filters hide the status. */
  readonly hiddenIn: ReadonlyArray<FilterContext>
}

/** Verdict if no filter matches. */
export const unfiltered: FilterVerdict = { filtered: encode<ReadonlyArray<FilterResult>>([]), hiddenIn: [] }

/** Applies a viewer's filters to a status, whose body (or that of its original) must be among `bodies`. */
export type StatusFilter = (key: StatusKey, bodies: ReadonlyMap<bigint, PreparedStatus>) => FilterVerdict

/** Applies a viewer's filters to statuses while yielding in between, so that later calls hit the cache. */
export const compared = (
  filter: StatusFilter,
  keys: ReadonlyArray<StatusKey>,
  bodies: ReadonlyMap<bigint, PreparedStatus>
) => mapWithYields(keys, (key) => bodies.get((key.original ?? key).id)?.body ?? "", (key) => filter(key, bodies))

interface Prepared {
  readonly body: string
  readonly poll: string | undefined
  readonly text: string
  /** Version of the text; increases when the text changes. */
  readonly version: number
}

interface Known extends FilterVerdict {
  readonly version: number
  /** Time at which the first of the filters expires, in milliseconds since 1970. */
  readonly until: number
}

/**
 * Filters over cached statuses. A text is prepared for searching when a filter first needs it. Each status is matched
 * once per viewer, until it or the filters change. Statuses that no one filters are never prepared.
 */
export const make = (active: ActiveFilters["Service"]) => {
  const texts = new LRUCache<bigint, Prepared>({
    maxSize: textCacheBytesMax,
    sizeCalculation: ({ body, poll, text }) => 2 * (body.length + (poll?.length ?? 0) + text.length) + 200
  })
  const verdicts = new WeakMap<FilterMatcher, Map<bigint, Known>>()
  let versions = 0

  const prepared = (id: bigint, { body, poll }: PreparedStatus): Prepared => {
    const before = texts.get(id)
    if (before !== undefined && before.body === body && before.poll === poll) return before
    const { html, plain } = textsOf(body, poll)
    const text = prepareText([plainText(bounded(html)), ...plain.map((one) => bounded(one))])
    const entry = { body, poll, text, version: text === before?.text ? before.version : ++versions }
    texts.set(id, entry)
    return entry
  }

  const filterOf = (viewer: bigint, matcher: FilterMatcher, now: number): StatusFilter => {
    const knownVerdicts = verdicts.get(matcher) ?? new Map<bigint, Known>()
    verdicts.set(matcher, knownVerdicts)
    return (key, bodies) => {
      const shown = key.original ?? key
      const status = bodies.get(shown.id)
      if (status === undefined) return unfiltered
      const { text, version } = prepared(shown.id, status)
      const before = knownVerdicts.get(key.id)
      if (before !== undefined && before.version === version && now < before.until) return before
      const ids = key.original === undefined ? [key.id] : [key.id, key.original.id]
      const own = key.accountId === viewer || shown.accountId === viewer
      const verdict = verdictOf(matcher.match(ids, text), own, now)
      knownVerdicts.delete(key.id)
      knownVerdicts.set(key.id, { ...verdict, version })
      for (const id of knownVerdicts.keys()) {
        if (knownVerdicts.size <= verdictsMax) break
        knownVerdicts.delete(id)
      }
      return verdict
    }
  }

  /** Returns the filters by viewer, for viewers who have any; one query at most. */
  const of = Effect.fnUntraced(function*(viewers: ReadonlyArray<AccountId>) {
    const matchers = yield* active.of(viewers)
    const now = yield* Clock.currentTimeMillis
    return new Map(Array.from(matchers, ([viewer, matcher]) => [viewer, filterOf(viewer, matcher, now)]))
  })

  /** Returns the filters of a viewer; undefined without any. */
  const find = (viewer: AccountId) =>
    Effect.flatMap(active.find(viewer), (matcher) =>
      matcher === undefined
        ? Effect.undefined
        : Effect.map(Clock.currentTimeMillis, (now) => filterOf(viewer, matcher, now)))

  /** Returns true if a viewer has filters that hide statuses. */
  const hides = (viewer: AccountId) => Effect.map(active.find(viewer), (matcher) => matcher?.hidesNothing === false)

  return { of, find, hides }
}

/** Returns the verdict on a status; a viewer's own posts are never hidden. */
const verdictOf = (matches: ReadonlyArray<FilterMatch>, own: boolean, now: number) => {
  const lasting = matches.filter(({ filter: { expiresAt } }) => expiresAt === null || expiresAt.getTime() > now)
  const shown = lasting.filter(({ filter }) => filter.action !== "hide")
  const hiding = own ? [] : lasting.filter(({ filter }) => filter.action === "hide")
  return {
    filtered: shown.length === 0 ? unfiltered.filtered : json<ReadonlyArray<FilterResult>>(shown.map(resultValues)),
    hiddenIn: hiding.length === 0 ? unfiltered.hiddenIn : hiding.flatMap(({ filter }) => filter.contexts),
    until: Math.min(Infinity, ...lasting.flatMap(({ filter: { expiresAt } }) => expiresAt?.getTime() ?? []))
  }
}
