import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import type { AccountId } from "../database/Ids.ts"
import { Fanouts } from "../intents/Fanouts.ts"
import { Feeds, listFeed } from "./Feeds.ts"

/** Invalidates feeds after list changes. */
export class ListFeeds extends Context.Service<ListFeeds, {
  /**
   * Drops the list's feed, and the owner's home if the list is exclusive: at once after the commit, and by an intent in
   * case this node dies in between.
   */
  readonly changed: (
    owner: AccountId,
    list: { readonly id: bigint; readonly exclusive: boolean }
  ) => Effect.Effect<void, SqlError>
}>()("murmuration/services/feeds/ListFeeds") {
  static readonly layerNoDeps = Layer.effect(
    ListFeeds,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const feeds = yield* Feeds
      const fanouts = yield* Fanouts
      return ListFeeds.of({
        changed: Effect.fnUntraced(function*(owner, { exclusive, id }) {
          const readers = exclusive ? [owner] : []
          yield* fanouts.enqueue(owner, { _tag: "homes", readers, lists: [id] })
          yield* sql.afterCommit(feeds.drop([...readers, listFeed(id)]))
        })
      })
    })
  )
  static readonly layer = ListFeeds.layerNoDeps.pipe(Layer.provide(Fanouts.layer))
}
