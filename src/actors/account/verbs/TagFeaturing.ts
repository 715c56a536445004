import { Effect } from "effect"
import { featuredTagsMax } from "../../../services/instance/ContentLimits.ts"
import { FeaturedTags } from "../../../services/statuses/FeaturedTags.ts"
import type { Ownership } from "../core/Ownership.ts"
import { type Commands, onAccount } from "../core/Verbs.ts"
import * as TellFollowers from "../fanout/TellFollowers.ts"
import * as FeaturedChanges from "./FeaturedChanges.ts"

/** Featured hashtags of an account. Those of a remote account are what its server lists. */
export const make = Effect.gen(function*() {
  const tellFollowers = yield* TellFollowers.make
  const featured = yield* FeaturedChanges.make
  const tags = yield* FeaturedTags

  const verbs = {
    FeatureTag: Effect.fnUntraced(function*(own: Ownership, { name }: Commands["FeatureTag"]) {
      const added = yield* tags.add(own.accountId, name, featuredTagsMax)
      if (added !== undefined) yield* tellFollowers(own, "FeatureTag", null, added)
      return onAccount(own.accountId)
    }),
    UnfeatureTag: Effect.fnUntraced(function*(own: Ownership, { name }: Commands["UnfeatureTag"]) {
      const removed = yield* tags.remove(own.accountId, name)
      if (removed !== undefined) yield* tellFollowers(own, "UnfeatureTag", null, removed)
      return onAccount(own.accountId)
    }),
    FeatureTags: Effect.fnUntraced(function*({ accountId }: Ownership, { changes, names }: Commands["FeatureTags"]) {
      yield* featured.unchanged(accountId, changes)
      yield* tags.replace(accountId, names)
      return onAccount(accountId)
    })
  }
  return { verbs }
})
