import { Clock, Effect } from "effect"
import { LRUCache } from "lru-cache"
import type { ActiveFilters } from "../../services/filters/ActiveFilters.ts"
import type { FilterContext } from "../../services/filters/Filter.ts"
import type { FilterMatch, FilterMatcher } from "../../services/filters/FilterMatcher.ts"
import { prepareText } from "../../services/filters/FilterText.ts"
import { plainText } from "../../services/html/PlainText.ts"
import type { AccountId } from "../../services/Ids.ts"
import type { StatusKey } from "../../services/statuses/ViewerState.ts"
import { bounded } from "../../services/text/BoundedText.ts"
import { mapInTurns } from "../../services/text/Turns.ts"
import type { FilterResult } from "../wire/Filter.ts"
import { encode, json, type Ready } from "../wire/Keys.ts"
import { textsOf } from "../wire/StatusJson.ts"
import { resultValues } from "./FilterValues.ts"
import type { ReadyStatus } from "./StatusBodies.ts"

/** Bytes of texts that are kept ready to be searched, with what they were made of. */
const textCacheBytesMax = 24 * 1024 * 1024
/** Statuses of which is kept how they stand to somebody's filters; beyond it the first to come goes first. */
const verdictsMax = 200

/** How a status stands to somebody's filters. */
interface FilterVerdict {
  readonly filtered: Ready<ReadonlyArray<FilterResult>>
  /** Where filters leave it out. */
  readonly hiddenIn: ReadonlyArray<FilterContext>
}

/** Where no filter matches. */
export const unfiltered: FilterVerdict = { filtered: encode<ReadonlyArray<FilterResult>>([]), hiddenIn: [] }

/** What somebody's filters say of a status, whose body, or that of what it repeats, is among those that were found. */
export type StatusFilter = (key: StatusKey, bodies: ReadonlyMap<bigint, ReadyStatus>) => FilterVerdict

/** Has statuses compared with somebody's filters in turns, so that asking for them next takes no time. */
export const compared = (
  filter: StatusFilter,
  keys: ReadonlyArray<StatusKey>,
  bodies: ReadonlyMap<bigint, ReadyStatus>
) => mapInTurns(keys, (key) => bodies.get((key.original ?? key).id)?.body ?? "", (key) => filter(key, bodies))

interface Prepared {
  readonly body: string
  readonly poll: string | undefined
  readonly text: string
  /** The same for as long as the text is. */
  readonly version: number
}

interface Known extends FilterVerdict {
  readonly version: number
  /** When the first of the filters expires, in milliseconds since 1970. */
  readonly until: number
}

/**
 * Filters over statuses that are ready. A text is made ready to be searched when the first filter asks for it, and each status is
 * compared with somebody's filters once, until one of both changes. Of no status that nobody filters is anything made.
 */
export const make = (active: ActiveFilters["Service"]) => {
  const texts = new LRUCache<bigint, Prepared>({
    maxSize: textCacheBytesMax,
    sizeCalculation: ({ body, poll, text }) => 2 * (body.length + (poll?.length ?? 0) + text.length) + 200
  })
  const verdicts = new WeakMap<FilterMatcher, Map<bigint, Known>>()
  let versions = 0

  const prepared = (id: bigint, { body, poll }: ReadyStatus): Prepared => {
    const before = texts.get(id)
    if (before !== undefined && before.body === body && before.poll === poll) return before
    const { html, plain } = textsOf(body, poll)
    const text = prepareText([plainText(bounded(html)), ...plain.map((one) => bounded(one))])
    const made = { body, poll, text, version: text === before?.text ? before.version : ++versions }
    texts.set(id, made)
    return made
  }

  const filterOf = (viewer: bigint, matcher: FilterMatcher, now: number): StatusFilter => {
    const kept = verdicts.get(matcher) ?? new Map<bigint, Known>()
    verdicts.set(matcher, kept)
    return (key, bodies) => {
      const shown = key.original ?? key
      const status = bodies.get(shown.id)
      if (status === undefined) return unfiltered
      const { text, version } = prepared(shown.id, status)
      const before = kept.get(key.id)
      if (before !== undefined && before.version === version && now < before.until) return before
      const ids = key.original === undefined ? [key.id] : [key.id, key.original.id]
      const own = key.accountId === viewer || shown.accountId === viewer
      const verdict = verdictOf(matcher.match(ids, text), own, now)
      kept.delete(key.id)
      kept.set(key.id, { ...verdict, version })
      for (const id of kept.keys()) {
        if (kept.size <= verdictsMax) break
        kept.delete(id)
      }
      return verdict
    }
  }

  /** By the viewers who filter anything; one query at most. */
  const of = Effect.fnUntraced(function*(viewers: ReadonlyArray<AccountId>) {
    const matchers = yield* active.of(viewers)
    const now = yield* Clock.currentTimeMillis
    return new Map(Array.from(matchers, ([viewer, matcher]) => [viewer, filterOf(viewer, matcher, now)]))
  })

  /** Of one viewer; undefined for who filters nothing. */
  const find = (viewer: AccountId) =>
    Effect.flatMap(active.find(viewer), (matcher) =>
      matcher === undefined
        ? Effect.undefined
        : Effect.map(Clock.currentTimeMillis, (now) => filterOf(viewer, matcher, now)))

  /** Whether somebody's filters leave anything out. */
  const hides = (viewer: AccountId) => Effect.map(active.find(viewer), (matcher) => matcher?.hidesNothing === false)

  return { of, find, hides }
}

/** Nobody's own posts are left out, whatever their words. */
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
