import { Effect, Result } from "effect"
import { activityTypeOf } from "../../../services/federation/documents/ActivityTypes.ts"
import { asForeign, asText, type Foreign, idOf, typeOf } from "../../../services/federation/documents/ForeignValues.ts"
import { NeedsFetch } from "../../../services/federation/fetching/OriginChecks.ts"
import { InboundActivities } from "../../../services/federation/inbox/InboundActivities.ts"
import type { InboundSender } from "../../../services/federation/inbox/InboundSender.ts"
import { KnownUris } from "../../../services/federation/inbox/KnownUris.ts"
import { RemoteStatuses } from "../../../services/federation/inbox/RemoteStatuses.ts"
import { foreignFeaturedTagsMax, foreignPinsMax } from "../../../services/instance/ForeignLimits.ts"
import * as BoundedJson from "../../../services/outbound/BoundedJson.ts"
import { Favourites } from "../../../services/statuses/Favourites.ts"
import { FeaturedTags } from "../../../services/statuses/FeaturedTags.ts"
import { StatusTargets } from "../../../services/statuses/StatusTargets.ts"
import { done, ignored } from "../core/Outcome.ts"
import type { Ownership } from "../core/Ownership.ts"
import * as FeaturedChanges from "../verbs/FeaturedChanges.ts"

/** Maximum characters of a featured hashtag that are read. */
const tagCharactersMax = 256

/** Handles a remote account's pins and unpins; only its own posts in its own collection (S-010, row 8). */
export const make = Effect.gen(function*() {
  const favourites = yield* Favourites
  const featured = yield* FeaturedChanges.make
  const inbound = yield* InboundActivities
  const knownUris = yield* KnownUris
  const statuses = yield* RemoteStatuses
  const tags = yield* FeaturedTags
  const statusTargets = yield* StatusTargets

  /** Drops pending Adds of a post that is unpinned before it was fetched. */
  const forget = Effect.fnUntraced(function*(own: Ownership, uri: string, place: bigint) {
    for (const { document, id } of yield* inbound.awaiting(own.accountId, uri)) {
      const waiting = asForeign(Result.getOrElse(BoundedJson.parse(document), () => undefined)) ?? {}
      if (id < place && activityTypeOf(waiting) === "Add") {
        yield* inbound.complete(id, "ignored: removed again")
      }
    }
  })

  /** Handles an Add or Remove. `place`: pins keep the order in which they arrived, whenever their posts arrive. */
  const change = Effect.fnUntraced(
    function*(own: Ownership, self: InboundSender, activity: Foreign, place: bigint) {
      const { object, target } = activity
      const adds = activityTypeOf(activity) === "Add"
      if (self.featuredUrl === null || idOf(target) !== self.featuredUrl) {
        return yield* ignored("not a collection of the sender")
      }
      const tag = asForeign(object)
      if (tag !== undefined && typeOf(tag, "Hashtag") !== undefined) {
        const name = (asText(tag["name"], tagCharactersMax) ?? "").replace(/^#/, "")
        yield* adds ? tags.add(own.accountId, name, foreignFeaturedTagsMax) : tags.remove(own.accountId, name)
        yield* featured.changed(own.accountId)
        return done
      }
      const uri = idOf(object) ?? ""
      if (!adds) yield* forget(own, uri, place)
      yield* featured.changed(own.accountId)
      const statusId = yield* knownUris.status(uri)
      if (statusId === undefined) {
        if (!adds || URL.parse(uri)?.origin !== URL.parse(self.uri)?.origin) return yield* ignored("an unknown post")
        const { buried, followed } = yield* statuses.deliveryFacts(own.accountId, uri)
        return buried
          ? yield* ignored("deleted")
          : yield* new NeedsFetch({ originCheck: { kind: "post", uri }, underWay: followed })
      }
      const post = yield* statusTargets.own(own.accountId, statusId)
      if (!adds) yield* favourites.unpin(own.accountId, statusId)
      else {
        if (post.reblogOfId !== null || post.visibility === "direct") {
          return yield* ignored("not a post that can be pinned")
        }
        const pinned = yield* favourites.pinned(own.accountId)
        if (pinned.length >= foreignPinsMax && !pinned.includes(statusId)) {
          return yield* ignored("too many pinned posts")
        }
        yield* favourites.pin(own.accountId, statusId, place)
      }
      return yield* Effect.succeed(done)
    }
  )
  return { change }
})
