import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Broadcast } from "../../services/Broadcast.ts"
import { asForeign, asText, type Foreign, idOf, typeOf } from "../../services/federation/documents/Reading.ts"
import { Unasked } from "../../services/federation/fetching/Inquiries.ts"
import type { InboundSender } from "../../services/federation/inbox/InboundSender.ts"
import { References } from "../../services/federation/inbox/References.ts"
import { Favourites } from "../../services/statuses/Favourites.ts"
import { FeaturedTags } from "../../services/statuses/FeaturedTags.ts"
import { Targets } from "../../services/statuses/Targets.ts"
import { done, ignored } from "./InboxPosts.ts"
import type { Ownership } from "./Ownership.ts"

/** Posts that a remote account may pin; of ours it is fewer. */
export const remotePinsMax = 50
/** Characters of a featured hashtag that are looked at. */
const tagCharactersMax = 256

/** What a remote account pins and takes off; only its own posts in its own collection (S-010, row 8). */
export const make = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const broadcast = yield* Broadcast
  const favourites = yield* Favourites
  const references = yield* References
  const tags = yield* FeaturedTags
  const targets = yield* Targets

  const change = Effect.fnUntraced(
    function*(own: Ownership, self: InboundSender, { object, target }: Foreign, adds: boolean) {
      if (self.featuredUrl === null || idOf(target) !== self.featuredUrl) {
        return yield* ignored("no collection of its sender")
      }
      const tag = asForeign(object)
      if (tag !== undefined && typeOf(tag, "Hashtag") !== undefined) {
        const name = (asText(tag["name"], tagCharactersMax) ?? "").replace(/^#/, "")
        yield* adds ? tags.add(own.accountId, name) : tags.remove(own.accountId, name)
        return done
      }
      const statusId = yield* references.status(idOf(object) ?? "")
      if (statusId === undefined) {
        const uri = idOf(object) ?? ""
        if (!adds || URL.parse(uri)?.origin !== URL.parse(self.uri)?.origin) return yield* ignored("an unknown post")
        return yield* new Unasked({ inquiry: { kind: "post", uri } })
      }
      const post = yield* targets.own(own.accountId, statusId)
      if (!adds) yield* favourites.unpin(own.accountId, statusId)
      else {
        if (post.reblogOfId !== null || post.visibility === "direct") return yield* ignored("a post that nobody pins")
        const pinned = yield* favourites.pinned(own.accountId)
        if (pinned.length >= remotePinsMax && !pinned.includes(statusId)) return yield* ignored("too many pinned posts")
        yield* favourites.pin(own.accountId, statusId)
      }
      yield* sql.afterCommit(broadcast.publish({ _tag: "Changed", kind: "status", ids: [statusId] }))
      return yield* Effect.succeed(done)
    }
  )
  return { change }
})
