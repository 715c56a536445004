import { Clock, Effect, Result } from "effect"
import { LRUCache } from "lru-cache"
import { ServerConfig } from "../instance/ServerConfig.ts"
import * as AskedHosts from "../outbound/AskedHosts.ts"
import { type OutboundError, Unreachable } from "../outbound/OutboundError.ts"
import type { ForeignActor } from "./documents/ForeignActor.ts"
import { foreignActor } from "./documents/ForeignActor.ts"
import { idOf, urlReader } from "./documents/ForeignValues.ts"
import { parseHandle } from "./DomainNames.ts"
import * as FailedLookups from "./FailedLookups.ts"
import { withKeys } from "./KeyDocuments.ts"
import { type FetchedDocument, Implausible, isTemporary, ObjectFetcher } from "./ObjectFetcher.ts"
import * as SingleFlight from "./SingleFlight.ts"
import { WebFingers } from "./WebFingers.ts"

/** Minimum time between two look-ups of an actor's keys, in milliseconds (scenario F27). */
export const lookUpMillisMin = 5 * 60_000
/**
 * Minimum time between two look-ups while the origin fails, in milliseconds. Shorter, because its accounts cannot be
 * verified until it is back.
 */
export const unavailableMillisMin = 60_000
/** Maximum bytes of cached look-ups, and maximum concurrent look-ups that are shared. */
const keptBytesMax = 16_777_216
const underWayMax = 1_000

type Handle = NonNullable<ReturnType<typeof parseHandle>>

/** Returns the handle in a key id of the form `acct:name@domain`. */
export const handleIn = (keyId: string): Handle | undefined =>
  keyId.startsWith("acct:") ? parseHandle(keyId) : undefined

/** An actor found by a key id, as its document describes it; not stored yet. */
interface Found {
  readonly fetched: FetchedDocument
  readonly actor: ForeignActor
}

interface Looked {
  readonly at: number
  /** "away": the host may reply later; undefined: the actor does not exist. */
  readonly found: Found | "away" | undefined
  readonly bytes: number
  /** Takes the look-up out of the limits: a signature by a key that it found was verified. */
  readonly proven: () => void
}

/** Result of a key look-up, and its start in milliseconds since 1970. */
type Look = Pick<Looked, "at" | "found" | "proven">

/**
 * Looks up the actors of key ids at their origin, before anything in a request is believed. If the key is in the
 * actor's own document, this takes one request. Results are cached under the key's id, also if nothing was found.
 * Nothing is stored in the database.
 */
export const make = Effect.gen(function*() {
  const { localDomain, outboundAllow, publicUrl } = yield* ServerConfig
  const ours = new Set([localDomain, new URL(publicUrl).host])
  const fetcher = yield* ObjectFetcher
  const webFingers = yield* WebFingers
  const readUrl = urlReader(outboundAllow)
  const limits = FailedLookups.make()
  const shared = yield* SingleFlight.make<Looked, never>(underWayMax)
  const cache = new LRUCache<string, Looked>({
    maxSize: keptBytesMax,
    sizeCalculation: ({ bytes }, key) => bytes + key.length
  })

  const fetched = Effect.fnUntraced(function*(address: string) {
    const first = yield* fetcher.fetch(address)
    // The key's address serves the actor itself, or a key document that names its owner.
    const owner = idOf(first.document["owner"]) ?? idOf(first.document["controller"]) ?? first.id.href
    if (owner === first.id.href) return yield* withKeys(fetcher, first)
    // A key cannot belong to another origin, so no owner is fetched.
    if (URL.parse(owner)?.origin !== first.id.origin) {
      return yield* new Implausible({ url: first.id.href, reason: "its owner is on another host" })
    }
    return yield* withKeys(fetcher, yield* fetcher.fetch(owner), [first])
  })

  /** Fetches the actor behind `acct:name@domain`. */
  const byHandle = Effect.fnUntraced(function*({ domain, username }: Handle) {
    const { actor } = yield* webFingers.resolve(username, domain)
    return yield* fetched(actor.href)
  })

  /**
   * Counts each host that a look-up asks, besides the first: by redirects, host-meta, handles of other domains and key
   * documents. `uncount` takes them out of the limits.
   */
  const countOthers = (first: string, address: string | undefined) => {
    const others = new Map<string, () => void>()
    return {
      admission: Effect.fnUntraced(function*({ host, href }: URL) {
        if (host === first || others.has(host)) return
        const uncount = yield* limits.take({ address, host })
        if (uncount === undefined) return yield* new Unreachable({ url: href, reason: "busy" })
        others.set(host, uncount)
      }),
      uncount: () => others.forEach((uncount) => uncount())
    }
  }

  /** Returns the location of a key, by its id; undefined if the id cannot be looked up. */
  const placeOf = (keyId: string) => {
    const handle = handleIn(keyId)
    if (handle !== undefined) {
      const { domain, username } = handle
      if (ours.has(domain)) return undefined
      return { name: `acct:${username}@${domain}`, host: domain, find: byHandle(handle) }
    }
    const url = readUrl(keyId)
    return url && { name: url.href, host: url.host, find: fetched(url.href) }
  }

  const looked = Effect.fnUntraced(function*(
    find: Effect.Effect<FetchedDocument, OutboundError | Implausible>,
    proven: () => void
  ) {
    const at = yield* Clock.currentTimeMillis
    const result = yield* Effect.result(find)
    const bytes = Result.isSuccess(result) ? JSON.stringify(result.success.document).length : 1
    const entry = (found: Looked["found"]): Looked => ({ at, found, bytes, proven })
    if (Result.isFailure(result)) return entry(isTemporary(result.failure) ? "away" : undefined)
    const actor = foreignActor(result.success.document, result.success.id, readUrl)
    return entry(actor === undefined ? undefined : { fetched: result.success, actor })
  })

  /**
   * Looks up the actor of a key; `address` is the requester's. Fetches nothing beyond the limits of `FailedLookups`.
   * Cached results of look-ups that began before `since` are not used.
   */
  return Effect.fnUntraced(function*(
    keyId: string,
    address: string | undefined,
    since = -Infinity
  ): Effect.fn.Return<Look> {
    const place = placeOf(keyId)
    const now = yield* Clock.currentTimeMillis
    if (place === undefined) return { at: now, found: undefined, proven: () => {} }
    const { find, host, name } = place
    const before = cache.get(name)
    const retryMillisMin = before?.found === "away" ? unavailableMillisMin : lookUpMillisMin
    if (before !== undefined && now - before.at < retryMillisMin && now >= before.at && before.at >= since) {
      return before
    }
    const uncount = yield* limits.take({ address, host })
    if (uncount === undefined) return { at: now, found: "away", proven: () => {} }
    const others = countOthers(host, address)
    const proven = () => {
      uncount()
      others.uncount()
    }
    const result = yield* shared(name, looked(AskedHosts.admittedBy(others.admission)(find), proven))
    // The result is a concurrent look-up's, so this one does not count.
    if (result.proven !== proven) proven()
    cache.set(name, result)
    return result
  })
})
