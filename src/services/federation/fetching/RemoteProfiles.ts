import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { AccountId, StatusId } from "../../database/Ids.ts"
import { rowsOf, Timestamptz } from "../../database/Rows.ts"
import * as RowChanges from "../../events/RowChanges.ts"
import { foreignFeaturedTagsMax, foreignPinsMax } from "../../instance/ForeignLimits.ts"
import { Jobs } from "../../intents/Jobs.ts"
import { briefCause } from "../../outbound/BriefCause.ts"
import { boundedMap } from "../../runtime/BoundedMap.ts"
import type { Unavailable } from "../../runtime/Errors.ts"
import { aheadMillisMax } from "../../runtime/Moments.ts"
import { traced } from "../../runtime/Traced.ts"
import { asActivity } from "../documents/Envelopes.ts"
import { asForeign, asText, countOf, type Foreign, idOf, idsOf, typeOf } from "../documents/ForeignValues.ts"
import { profileMillisMax, RemoteActors } from "../RemoteActors.ts"
import { type CollectionReading, FetchedPosts } from "./FetchedPosts.ts"
import { RefreshClaims, refreshSecondsMax } from "./RefreshClaims.ts"
import { RemoteCollections } from "./RemoteCollections.ts"
import { RemotePosts } from "./RemotePosts.ts"

const changesRows = rowsOf(Schema.Struct({ changes: Schema.Int }))

/**
 * Minimum time between readings of an account's collections, in milliseconds, and maximum posts taken from its outbox.
 */
const outboxMillisMin = 24 * 3_600_000
const outboxPostsMax = 20
/** Maximum requests for a collection's items. The outbox itself was already fetched, so this is its first page. */
const outboxPagesMax = 1
const featuredPagesMax = 2
/** Maximum readings of one collection while the account keeps sending changes to it. */
const featuredReadsMax = 3
/** Maximum characters of a featured hashtag. */
const tagCharactersMax = 256
/**
 * Minimum time between checks whether an account is due, in milliseconds, and maximum accounts for which it is
 * remembered.
 */
const readMillisMin = 60_000
const lastReadsMax = 10_000

const Profile = Schema.Struct({
  uri: Schema.String,
  outboxUrl: Schema.NullOr(Schema.String),
  followersUrl: Schema.NullOr(Schema.String),
  followingUrl: Schema.NullOr(Schema.String),
  featuredUrl: Schema.NullOr(Schema.String),
  featuredTagsUrl: Schema.NullOr(Schema.String),
  fetchedAt: Timestamptz,
  followed: Schema.Boolean
})
type Profile = typeof Profile.Type
const profileRows = rowsOf(Profile)

/** Returns true for a collection that counts members but shows none: its owner hides them (federation.md section 4). */
const isHidden = (collection: Foreign): boolean =>
  (countOf(collection["totalItems"]) ?? 0) > 0 &&
  ["first", "items", "orderedItems"].every((field) => collection[field] === undefined)

/** Refreshes a remote profile's contents besides its document: newest posts, pins, hashtags and counts. */
export class RemoteProfiles extends Context.Service<RemoteProfiles, {
  /**
   * Call when a user views an account. Refreshes stale parts in the background: the document and the collections once a
   * day. Posts are fetched only if no local account follows it; otherwise they are pushed.
   */
  readonly read: (accountId: AccountId) => Effect.Effect<void>
}>()("murmuration/services/federation/fetching/RemoteProfiles") {
  static readonly layerNoDeps = Layer.effect(
    RemoteProfiles,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const actors = yield* RemoteActors
      const tracked = yield* RowChanges.make
      const collections = yield* RemoteCollections
      const fetchedPosts = yield* FetchedPosts
      const claims = yield* RefreshClaims
      const jobs = yield* Jobs
      const posts = yield* RemotePosts
      const scope = yield* Effect.scope
      const lastReads = boundedMap<bigint, number>(lastReadsMax)

      /**
       * Returns the status of an item in the account's own collection. An embedded object is believed only if this
       * account is its author (row 9).
       */
      const had = Effect.fnUntraced(function*(author: string, item: unknown) {
        const uri = idOf(item)
        const object = asForeign(item)
        if (uri === undefined || URL.parse(uri)?.origin !== URL.parse(author)?.origin) return undefined
        const isComplete = object !== undefined && idsOf(object["attributedTo"]).includes(author) && "content" in object
        const found: Effect.Effect<StatusId, unknown> = isComplete
          ? Effect.map(posts.keep({ id: new URL(uri), document: object }, { asked: true }), ({ statusId }) => statusId)
          : posts.find(uri)
        return yield* Effect.orElseSucceed(found, () => undefined)
      })

      /** Returns the post of a Create; boosts are not the account's own posts. */
      const postOf = (author: string, item: unknown) => {
        const activity = asActivity(item) ?? {}
        return typeOf(activity, "Create") !== undefined && idOf(activity["actor"]) === author
          ? activity["object"]
          : undefined
      }

      const figures = Effect.fnUntraced(function*(
        id: AccountId,
        [followers, following, outbox]: ReadonlyArray<Foreign | undefined>
      ) {
        const stated = (collection: Foreign | undefined) => countOf(collection?.["totalItems"]) ?? null
        yield* tracked("account", [id])(
          sql`UPDATE account_stats SET stated_followers = coalesce(${stated(followers)}, stated_followers),
          stated_following = coalesce(${stated(following)}, stated_following),
          stated_statuses = coalesce(${stated(outbox)}, stated_statuses) WHERE account_id = ${id}`
        ).pipe(Effect.orDie)
        const lists = [followers, following].filter((collection) => collection !== undefined)
        if (lists.length > 0) {
          yield* tracked("account", [id])(
            sql`UPDATE accounts SET hide_collections = ${lists.some(isHidden)} WHERE id = ${id}`
          ).pipe(Effect.orDie)
        }
      })

      /**
       * Updates a part of the profile from its collection; keeps it if the fetch fails. If the account sent a change
       * during the reading, that is newer, and the collection is read again.
       */
      const featured = Effect.fnUntraced(function*(
        id: AccountId,
        url: string | null,
        origin: string,
        itemsMax: number,
        take: (items: ReadonlyArray<unknown>, read: CollectionReading) => Effect.Effect<boolean, Unavailable>
      ) {
        if (url === null) return
        for (let reads = 0; reads < featuredReadsMax; reads++) {
          const readAt = yield* Clock.currentTimeMillis
          const [row] = yield* changesRows(sql`SELECT featured_changes AS changes FROM remote_actors
            WHERE account_id = ${id}`).pipe(Effect.orDie)
          const found = row === undefined ? undefined : yield* collections.find(url, origin)
          if (row === undefined || found === undefined) return
          let pages = featuredPagesMax
          const items = yield* collections.items(found, origin, itemsMax, () => pages-- > 0)
          if (yield* Effect.orElseSucceed(take(items, { readAt, changes: row.changes }), () => true)) return
        }
      })
      const hashtags = (id: AccountId) => (items: ReadonlyArray<unknown>, read: CollectionReading) =>
        fetchedPosts.featureTags(
          id,
          read,
          items.flatMap((item) => asText(asForeign(item)?.["name"], tagCharactersMax)?.replace(/^#/, "") ?? [])
        )
      const pins = (id: AccountId, author: string) => (items: ReadonlyArray<unknown>, read: CollectionReading) =>
        Effect.flatMap(
          Effect.forEach(items, (item) => had(author, item)),
          (ids) => fetchedPosts.feature(id, read, ids.filter((statusId) => statusId !== undefined))
        )

      const collect = Effect.fnUntraced(function*(id: AccountId, profile: Profile) {
        const { featuredTagsUrl, featuredUrl, followed, followersUrl, followingUrl, outboxUrl, uri } = profile
        const origin = URL.parse(uri)?.origin ?? ""
        const all = yield* Effect.forEach(
          [followersUrl, followingUrl, outboxUrl],
          (url) => url === null ? Effect.succeed(undefined) : collections.find(url, origin)
        )
        yield* figures(id, all)
        let pages = outboxPagesMax
        const items = followed ? [] : yield* collections.items(all[2], origin, outboxPostsMax, () => pages-- > 0)
        let found = 0
        for (const item of items) {
          if ((yield* had(uri, postOf(uri, item))) !== undefined) found++
        }
        yield* featured(id, featuredUrl, origin, foreignPinsMax, pins(id, uri))
        yield* featured(id, featuredTagsUrl, origin, foreignFeaturedTagsMax, hashtags(id))
        yield* Effect.orDie(jobs.enqueue("collections", id))
        return found
      })

      const load = (id: AccountId) =>
        Effect.map(
          profileRows(
            sql`SELECT a.uri, r.outbox_url, r.followers_url, r.following_url, r.featured_url, r.featured_tags_url, r.fetched_at,
              EXISTS (SELECT FROM follows f WHERE f.target_account_id = a.id) AS followed
            FROM accounts a JOIN remote_actors r ON r.account_id = a.id
            WHERE a.id = ${id} AND a.suspended_at IS NULL`
          ),
          ([row]) => row
        ).pipe(Effect.orDie)

      const refresh = Effect.fnUntraced(function*(id: AccountId, { uri }: Profile, stale: boolean, due: boolean) {
        if (stale) yield* Effect.ignore(actors.refresh(uri))
        const profile = due ? yield* load(id) : undefined
        if (profile === undefined) return
        const found = yield* collect(id, profile).pipe(
          Effect.timeoutOrElse({ duration: `${refreshSecondsMax} seconds`, orElse: () => Effect.succeed(0) })
        )
        yield* claims.end("profile", id, found)
      })

      const read = traced("RemoteProfiles.read")(function*(id: AccountId) {
        const now = yield* Clock.currentTimeMillis
        const rested = lastReads.get(id)
        if (rested !== undefined && now - rested < readMillisMin && now >= rested) return
        lastReads.set(id, now)
        const profile = yield* load(id)
        if (profile === undefined) return
        const age = now - profile.fetchedAt.getTime()
        const stale = age > profileMillisMax || age < -aheadMillisMax
        const due = yield* claims.begin("profile", id, outboxMillisMin)
        if (!stale && !due) return
        yield* refresh(id, profile, stale, due).pipe(
          Effect.catchCause((cause) => Effect.logWarning("a profile was not fetched", briefCause(cause))),
          Effect.forkIn(scope)
        )
      })

      return RemoteProfiles.of({ read })
    })
  )
  static readonly layer = RemoteProfiles.layerNoDeps.pipe(
    Layer.provide([RefreshClaims.layer, RemoteActors.layer, RemoteCollections.layer, RemotePosts.layer])
  )
}
