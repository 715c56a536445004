import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { RecordNotFound } from "../Errors.ts"
import { normalise } from "../html/HashtagNames.ts"
import { rowsOf, Timestamptz } from "../Rows.ts"
import { traced } from "../Traced.ts"

/** What staff decides about. The posts of an account and the pages of a site may trend without each being looked at. */
export type TrendSubject =
  | { readonly kind: "tag"; readonly name: string }
  | { readonly kind: "status"; readonly id: bigint }
  | { readonly kind: "account"; readonly id: bigint }
  | { readonly kind: "link"; readonly cardId: bigint }
  | { readonly kind: "site"; readonly site: string }

const Waiting = Schema.Struct({
  kind: Schema.Literals(["tag", "status", "link"]),
  id: Schema.BigInt,
  /** The hashtag's name, or the address of the status or page. */
  name: Schema.String,
  /** Who wrote the status, or the page's site; empty for hashtags. */
  by: Schema.String,
  since: Schema.NullOr(Timestamptz)
})
type Waiting = typeof Waiting.Type
const waitingRows = rowsOf(Waiting)

/** Things of each kind that one list shows. */
const waitingMax = 100

/** What trends and waits for somebody of the staff to look at it, and what they decide (S-112, S-232). */
export class TrendReviews extends Context.Service<TrendReviews, {
  /** The strongest first, by kind. */
  readonly waiting: Effect.Effect<ReadonlyArray<Waiting>>
  /** May it trend from now on? `RecordNotFound` for what is not here. */
  readonly decide: (subject: TrendSubject, trendable: boolean) => Effect.Effect<void, RecordNotFound>
}>()("murmuration/services/trends/TrendReviews") {
  static readonly layer = Layer.effect(
    TrendReviews,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient

      const waiting = Effect.gen(function*() {
        const tags = yield* waitingRows(
          sql`SELECT 'tag' AS kind, t.id, t.display_name AS name, '' AS by, t.requested_review_at AS since
          FROM tag_trends r JOIN tags t ON t.id = r.tag_id WHERE t.trendable IS NULL AND r.score > 0
          ORDER BY r.score DESC, t.id LIMIT ${waitingMax}`
        )
        const statuses = yield* waitingRows(sql`SELECT 'status' AS kind, s.id, coalesce(s.url, s.uri, '') AS name,
            a.username || coalesce('@' || a.domain, '') AS by, a.requested_review_at AS since
          FROM status_trends r JOIN statuses s ON s.id = r.status_id AND s.deleted_at IS NULL
          JOIN accounts a ON a.id = s.account_id AND a.trendable IS NULL
          WHERE NOT EXISTS (SELECT FROM status_reviews w WHERE w.status_id = s.id)
          ORDER BY r.score DESC, s.id LIMIT ${waitingMax}`)
        const links = yield* waitingRows(
          sql`SELECT 'link' AS kind, c.id, c.url AS name, c.site AS by, p.requested_review_at AS since
          FROM card_trends r JOIN preview_cards c ON c.id = r.card_id AND c.trendable IS NULL
          LEFT JOIN preview_card_providers p ON p.site = c.site WHERE p.trendable IS NULL AND r.score > 0
          ORDER BY r.score DESC, c.id LIMIT ${waitingMax}`
        )
        return [...tags, ...statuses, ...links]
      }).pipe(Effect.orDie, Effect.withSpan("TrendReviews.waiting"))

      const decision = (subject: TrendSubject, trendable: boolean, now: number) => {
        const at = new Date(now)
        switch (subject.kind) {
          case "tag":
            return sql`UPDATE tags SET trendable = ${trendable}, reviewed_at = ${at}
              WHERE name = ${normalise(subject.name.replace(/^[#＃]/, ""))} RETURNING 1`
          case "status":
            return sql`INSERT INTO status_reviews (status_id, trendable, reviewed_at)
              SELECT id, ${trendable}, ${at} FROM statuses WHERE id = ${subject.id} AND deleted_at IS NULL
              ON CONFLICT (status_id) DO UPDATE SET trendable = excluded.trendable, reviewed_at = excluded.reviewed_at
              RETURNING 1`
          case "account":
            return sql`UPDATE accounts SET trendable = ${trendable}, reviewed_at = ${at}
              WHERE id = ${subject.id} RETURNING 1`
          case "link":
            return sql`UPDATE preview_cards SET trendable = ${trendable} WHERE id = ${subject.cardId} RETURNING 1`
          case "site":
            return sql`INSERT INTO preview_card_providers (id, site, trendable, reviewed_at)
              VALUES (next_id(${now}), ${subject.site}, ${trendable}, ${at})
              ON CONFLICT (site) DO UPDATE SET trendable = excluded.trendable, reviewed_at = excluded.reviewed_at
              RETURNING 1`
        }
      }
      return TrendReviews.of({
        waiting,
        decide: traced("TrendReviews.decide")(function*(subject, trendable) {
          const now = yield* Clock.currentTimeMillis
          const decided = yield* Effect.orDie(decision(subject, trendable, now))
          if (decided.length === 0) return yield* new RecordNotFound()
        })
      })
    })
  )
}
