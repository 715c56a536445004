import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { feedsOf } from "../../../services/feeds/FeedKeys.ts"
import { Feeds, listFeed } from "../../../services/feeds/Feeds.ts"
import { Fanouts } from "../../../services/intents/Fanouts.ts"
import type { Homes } from "../../../services/intents/Intent.ts"
import type { Owners } from "../Ownership.ts"
import type { Slice } from "./Slice.ts"

/** Feeds that are out of date are dropped. Made once a node. */
export const make = Effect.fnUntraced(function*({ owned }: Owners) {
  const sql = yield* SqlClient.SqlClient
  const fanouts = yield* Fanouts
  const feeds = yield* Feeds

  const slice: Slice<Homes> = (own, at, { lists = [], readers }) =>
    owned(
      own,
      Effect.gen(function*() {
        yield* feeds.drop([...(yield* feedsOf(sql, readers)), ...lists.map(listFeed)])
        return yield* fanouts.complete(at)
      })
    )
  return slice
})
