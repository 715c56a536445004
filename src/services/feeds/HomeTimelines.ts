import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { AccountId } from "../database/Ids.ts"
import type { Page } from "../database/Paging.ts"
import { idRows } from "../database/Rows.ts"
import { traced } from "../runtime/Traced.ts"
import * as FeedReader from "./FeedReader.ts"
import * as NewestQuery from "./NewestQuery.ts"

/** Kinds of posts that a home request excludes. */
interface HomeExclusions {
  readonly replies: boolean
  readonly reblogs: boolean
}

/** Reads home timelines from their feeds. */
export class HomeTimelines extends Context.Service<HomeTimelines, {
  readonly page: (reader: AccountId, page: Page) => Effect.Effect<FeedReader.FeedPage>
  /**
   * Removes excluded posts from `ids`, by one query. Replies to the reader and self-replies are kept. The page has
   * already dropped repeated boosts: a boost whose original is above it stays dropped.
   */
  readonly without: (
    exclusions: HomeExclusions,
    reader: AccountId,
    ids: ReadonlyArray<bigint>
  ) => Effect.Effect<ReadonlyArray<bigint>>
}>()("murmuration/services/feeds/HomeTimelines") {
  static readonly layer = Layer.effect(
    HomeTimelines,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const read = yield* FeedReader.make
      return HomeTimelines.of({
        page: traced("HomeTimelines.page")((reader: AccountId, page: Page) =>
          read(reader, (range, now) => NewestQuery.ofHome(sql, reader, range, now), page)
        ),
        without: traced("HomeTimelines.without")(function*(exclusions, reader, ids) {
          if (ids.length === 0) return ids
          const excluded = yield* idRows(sql`SELECT id FROM statuses WHERE id = ANY (${ids}::bigint[]) AND (
            (${exclusions.reblogs} AND reblog_of_id IS NOT NULL) OR (${exclusions.replies} AND in_reply_to_id IS NOT NULL
              AND in_reply_to_account_id IS DISTINCT FROM account_id
              AND in_reply_to_account_id IS DISTINCT FROM ${reader}))`)
          const left = new Set(excluded.map(({ id }) => id))
          return ids.filter((id) => !left.has(id))
        }, Effect.orDie)
      })
    })
  )
}
