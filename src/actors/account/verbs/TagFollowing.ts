import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Feeds } from "../../../services/feeds/Feeds.ts"
import { TagFollows } from "../../../services/statuses/TagFollows.ts"
import { Tags } from "../../../services/statuses/Tags.ts"
import * as IntentWriter from "../core/IntentWriter.ts"
import type { Ownership } from "../core/Ownership.ts"
import { type Commands, onAccount } from "../core/Verbs.ts"

/** Hashtags that an account follows. Its home feed is dropped, and rebuilt on the next read. */
export const make = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const feeds = yield* Feeds
  const follows = yield* TagFollows
  const tags = yield* Tags
  const intend = yield* IntentWriter.make

  const changed = Effect.fnUntraced(function*(own: Ownership) {
    yield* intend(own, { _tag: "homes", readers: [own.accountId] })
    yield* sql.afterCommit(feeds.drop([own.accountId]))
  })

  const verbs = {
    FollowTag: Effect.fnUntraced(function*(own: Ownership, { name }: Commands["FollowTag"]) {
      for (const tagId of yield* tags.findOrCreate([name])) {
        if (yield* follows.add(own.accountId, tagId)) yield* changed(own)
      }
      return onAccount(own.accountId)
    }),
    UnfollowTag: Effect.fnUntraced(function*(own: Ownership, { name }: Commands["UnfollowTag"]) {
      if (yield* follows.remove(own.accountId, name)) yield* changed(own)
      return onAccount(own.accountId)
    })
  }
  return { verbs }
})
