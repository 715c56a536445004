import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { rowsOf, singleRow } from "../database/Rows.ts"

/** Maximum counted rows per kind; more are shown as "1,000+". */
export const waitingCountMax = 1_000

const Waiting = Schema.Struct({
  reports: Schema.Int,
  signUps: Schema.Int,
  appeals: Schema.Int,
  trends: Schema.Int,
  suggestions: Schema.Int,
  heldPosts: Schema.Int
})
/** Counts of work that awaits decisions of staff. */
export type Waiting = typeof Waiting.Type
const waitingRows = rowsOf(Waiting)

/** Counts work that awaits staff, by kind. */
export class WaitingWork extends Context.Service<WaitingWork, {
  /** Runs one query, each part of which reads at most `waitingCountMax` rows. */
  readonly counts: Effect.Effect<Waiting>
}>()("murmuration/services/staff/WaitingWork") {
  static readonly layer = Layer.effect(
    WaitingWork,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const max = sql.literal(`LIMIT ${waitingCountMax}`)
      return WaitingWork.of({
        counts: waitingRows(sql`SELECT
          (SELECT count(*)::int FROM (SELECT FROM reports WHERE action_taken_at IS NULL ${max}) r) AS reports,
          (SELECT count(*)::int FROM (SELECT FROM users WHERE NOT approved AND confirmed_at IS NOT NULL ${max}) u)
            AS sign_ups,
          (SELECT count(*)::int FROM (SELECT FROM appeals WHERE state = 'pending' ${max}) p) AS appeals,
          (SELECT count(*)::int FROM (SELECT FROM tag_trends r JOIN tags t ON t.id = r.tag_id
            WHERE t.trendable IS NULL AND r.score > 0 ${max}) t)
          + (SELECT count(*)::int FROM (SELECT FROM card_trends r JOIN preview_cards c ON c.id = r.card_id
            LEFT JOIN preview_card_providers p ON p.site = c.site
            WHERE c.trendable IS NULL AND p.trendable IS NULL AND r.score > 0 ${max}) c) AS trends,
          (SELECT count(*)::int FROM (SELECT FROM moderation_suggestions WHERE state = 'new' ${max}) s)
            AS suggestions,
          (SELECT count(*)::int FROM (SELECT FROM held_posts ${max}) h) AS held_posts`).pipe(
          Effect.map(singleRow),
          Effect.orDie,
          Effect.withSpan("WaitingWork.counts")
        )
      })
    })
  )
}
