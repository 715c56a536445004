import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { ServerConfig } from "../instance/ServerConfig.ts"
import { runIfDue } from "../intents/Chores.ts"
import { popularMillis, refreshPopular } from "../suggestions/PopularAccounts.ts"
import { refreshLinks } from "./LinkTrends.ts"
import { refreshStatuses } from "./StatusTrends.ts"
import { refreshTags } from "./TagTrends.ts"
import { refreshMillis } from "./TrendWindow.ts"

/**
 * Recomputes trends and popular accounts when due: each kind in its own transaction, by one node of the cluster.
 * Posting, favouriting and boosting record nothing extra for it.
 */
export class TrendRefresh extends Context.Service<TrendRefresh, {
  /** Runs tasks that are due; returns their names. */
  readonly run: Effect.Effect<ReadonlyArray<string>, SqlError>
}>()("murmuration/services/trends/TrendRefresh") {
  static readonly layer = Layer.effect(
    TrendRefresh,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { trendsReview } = yield* ServerConfig
      const chores = [
        ["trends of tags", refreshMillis, refreshTags(sql, trendsReview)],
        ["trends of statuses", refreshMillis, refreshStatuses(sql)],
        ["trends of links", refreshMillis, refreshLinks(sql)],
        ["popular accounts", popularMillis, refreshPopular(sql)]
      ] as const

      const run = Effect.gen(function*() {
        const done: Array<string> = []
        for (const [chore, period, refresh] of chores) {
          if (yield* runIfDue(sql, chore, period, refresh)) done.push(chore)
        }
        return done
      }).pipe(Effect.withSpan("TrendRefresh.run"))

      return TrendRefresh.of({ run })
    })
  )
}
