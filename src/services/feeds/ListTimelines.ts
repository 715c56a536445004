import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { Page } from "../database/Paging.ts"
import { traced } from "../runtime/Traced.ts"
import * as FeedReader from "./FeedReader.ts"
import { listFeed } from "./Feeds.ts"
import * as NewestQuery from "./NewestQuery.ts"

/** Reads list timelines from their feeds. */
export class ListTimelines extends Context.Service<ListTimelines, {
  /** Returns a page of a list; the caller must have checked that the list is the reader's. */
  readonly page: (listId: bigint, page: Page) => Effect.Effect<FeedReader.FeedPage>
}>()("murmuration/services/feeds/ListTimelines") {
  static readonly layer = Layer.effect(
    ListTimelines,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const read = yield* FeedReader.make
      return ListTimelines.of({
        page: traced("ListTimelines.page")((listId: bigint, page: Page) =>
          read(listFeed(listId), (range, now) => NewestQuery.ofList(sql, listId, range, now), page)
        )
      })
    })
  )
}
