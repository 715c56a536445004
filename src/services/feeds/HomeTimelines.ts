import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { AccountId } from "../Ids.ts"
import type { Page } from "../Paging.ts"
import { traced } from "../Traced.ts"
import * as FeedReader from "./FeedReader.ts"
import * as NewestQuery from "./NewestQuery.ts"

/** Reads home timelines, out of their feeds. */
export class HomeTimelines extends Context.Service<HomeTimelines, {
  readonly page: (reader: AccountId, page: Page) => Effect.Effect<FeedReader.FeedPage>
}>()("murmuration/services/feeds/HomeTimelines") {
  static readonly layer = Layer.effect(
    HomeTimelines,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const read = yield* FeedReader.make
      return HomeTimelines.of({
        page: traced("HomeTimelines.page")((reader: AccountId, page: Page) =>
          read(reader, (range, now) => NewestQuery.ofHome(sql, reader, range, now), page)
        )
      })
    })
  )
}
