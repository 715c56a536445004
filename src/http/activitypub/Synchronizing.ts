import { Clock, Effect } from "effect"
import { AccountActors } from "../../actors/account/core/AccountActors.ts"
import { AccountId } from "../../services/database/Ids.ts"
import { asForeign, asList, idOf, urlReader } from "../../services/federation/documents/ForeignValues.ts"
import { FollowerDigests, synchronizedMax } from "../../services/federation/FollowerDigests.ts"
import { KnownUris } from "../../services/federation/inbox/KnownUris.ts"
import { ObjectFetcher } from "../../services/federation/ObjectFetcher.ts"
import type { Sender } from "../../services/federation/SenderKeys.ts"
import { ServerConfig } from "../../services/instance/ServerConfig.ts"
import { boundedMap } from "../../services/runtime/BoundedMap.ts"

/**
 * Maximum pages of a collection that are read, and the time before a sender's collection is read again, in
 * milliseconds.
 */
const pagesMax = 10
const lookMillis = 300_000
const lookedMax = 10_000
/** Maximum follows undone per check, because the local account does not follow. */
export const disownedMax = 100

const parameter = /\b(collectionId|digest|url)="([^"]*)"/g

/**
 * Compares a remote account's list of its local followers with ours (FEP-8fcf). A local follower that the list lacks is
 * made to unfollow. A pending request that the list contains counts as accepted. A follow that is unknown here is
 * undone there.
 */
export const make = Effect.gen(function*() {
  const actors = yield* AccountActors
  const digests = yield* FollowerDigests
  const fetcher = yield* ObjectFetcher
  const knownUris = yield* KnownUris
  const { outboundAllow, publicUrl } = yield* ServerConfig
  const readUrl = urlReader(outboundAllow)
  const looked = boundedMap<bigint, number>(lookedMax)

  /** Returns the local ids in the collection; undefined if it is too long to be read. */
  const members = Effect.fnUntraced(function*(url: string) {
    const found = new Set<string>()
    let next: string | undefined = url
    for (let page = 0; next !== undefined; page++) {
      if (page >= pagesMax || found.size > synchronizedMax) return undefined
      const { document } = yield* fetcher.fetch(next)
      for (const item of [...asItems(document["orderedItems"]), ...asItems(document["items"])]) {
        const id = idOf(item)
        if (id?.startsWith(`${publicUrl}/`) === true) found.add(id)
      }
      const first = document["first"]
      const inline = asForeign(first)
      for (const item of asItems(inline?.["orderedItems"] ?? inline?.["items"])) {
        const id = idOf(item)
        if (id?.startsWith(`${publicUrl}/`) === true) found.add(id)
      }
      const following = readUrl(document["next"] ?? inline?.["next"] ?? (inline === undefined ? first : undefined))
      next = following?.origin === URL.parse(url)?.origin ? following?.href : undefined
    }
    return found
  })

  const repair = Effect.fnUntraced(function*(sender: Sender, url: string) {
    const theirs = yield* members(url)
    if (theirs === undefined) return
    const ours = yield* digests.localFollowers(sender.accountId)
    for (const { accountId, pending, uri } of ours) {
      if (pending === theirs.has(uri)) {
        const follower = AccountId.make(accountId)
        yield* pending
          ? actors.tell(sender.accountId, { _tag: "AuthorizeFollow", target: follower })
          : actors.tell(follower, { _tag: "Unfollow", target: sender.accountId })
      }
      theirs.delete(uri)
    }
    for (const follower of (yield* knownUris.accounts([...theirs].slice(0, disownedMax))).values()) {
      yield* actors.tell(follower, { _tag: "DisownFollow", target: sender.accountId })
    }
  })

  /**
   * Compares the digests, and repairs differences, at most every five minutes per sender. To be run in the background.
   */
  return Effect.fnUntraced(function*(sender: Sender, header: string | undefined) {
    if (header === undefined) return
    const given = new Map(Array.from(header.matchAll(parameter), ([, name = "", value = ""]) => [name, value]))
    const url = readUrl(given.get("url"))
    const [collection, digest] = [given.get("collectionId"), given.get("digest")]
    if (url === undefined || url.origin !== URL.parse(sender.uri)?.origin || digest === undefined) return
    if (collection === undefined || collection !== (yield* digests.followersOf(sender.accountId))) return
    const ours = yield* digests.localFollowers(sender.accountId)
    if (digests.digest(ours.flatMap(({ pending, uri }) => pending ? [] : [uri])) === digest.toLowerCase()) return
    const now = yield* Clock.currentTimeMillis
    const before = looked.get(sender.accountId)
    if (before !== undefined && now - before < lookMillis && now >= before) return
    looked.set(sender.accountId, now)
    yield* repair(sender, url.href)
  })
})

/** Returns the items of a page, up to the limit. */
const asItems = (value: unknown): ReadonlyArray<unknown> =>
  Array.isArray(value) ? value.slice(0, synchronizedMax) : asList(value)
