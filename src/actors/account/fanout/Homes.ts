import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { feedsOf } from "../../../services/feeds/FeedKeys.ts"
import { Feeds, listFeed } from "../../../services/feeds/Feeds.ts"
import { Fanouts } from "../../../services/intents/Fanouts.ts"
import type { Homes } from "../../../services/intents/Intent.ts"
import { rowsMax } from "../../../services/Paging.ts"
import { rowsOf } from "../../../services/Rows.ts"
import type { Owners } from "../Ownership.ts"
import { type Slice, SliceRows } from "./Slice.ts"

const followRows = rowsOf(Schema.Struct({ id: Schema.BigInt, accountId: Schema.BigInt }))

/** Feeds that are out of date are dropped. Made once a node. */
export const make = Effect.fnUntraced(function*({ owned }: Owners) {
  const sql = yield* SqlClient.SqlClient
  const fanouts = yield* Fanouts
  const feeds = yield* Feeds
  const sliceRows = yield* SliceRows

  const slice: Slice<Homes> = (own, at, { followers = false, lists = [], readers }) =>
    owned(
      own,
      Effect.gen(function*() {
        const rows = followers
          ? yield* followRows(
            sql`SELECT id, account_id FROM follows WHERE target_account_id = ${own.accountId} AND NOT remote
            AND id > ${at.cursor} ORDER BY id LIMIT ${rowsMax(sql, sliceRows)}`
          )
          : []
        const all = [...readers, ...rows.map(({ accountId }) => accountId)]
        yield* feeds.drop([...(yield* feedsOf(sql, all)), ...lists.map(listFeed)])
        const last = rows.at(-1)
        return yield* last === undefined || rows.length < sliceRows
          ? fanouts.complete(at)
          : fanouts.advance(at, at.phase, last.id)
      })
    )
  return slice
})
