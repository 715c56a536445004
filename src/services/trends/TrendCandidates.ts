import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { clauses, newestFirst, type Page, rowsMax, type Stretch } from "../Paging.ts"
import { rowsOf, Timestamptz } from "../Rows.ts"
import { traced } from "../Traced.ts"

/** Something that trends or would, and whether nobody of the staff looked at it yet. */
const Candidate = Schema.Struct({ id: Schema.BigInt, requiresReview: Schema.Boolean })
type Candidate = typeof Candidate.Type
const candidateRows = rowsOf(Candidate)

const Publisher = Schema.Struct({
  id: Schema.BigInt,
  site: Schema.String,
  trendable: Schema.NullOr(Schema.Boolean),
  reviewedAt: Schema.NullOr(Timestamptz),
  requestedReviewAt: Schema.NullOr(Timestamptz)
})
/** A site whose pages trend or would. */
export type Publisher = typeof Publisher.Type
const publisherRows = rowsOf(Publisher)

type Found = Effect.Effect<ReadonlyArray<Candidate>>

/** What trends and what would if staff let it, the strongest first: what they look at (S-232). */
export class TrendCandidates extends Context.Service<TrendCandidates, {
  readonly tags: (stretch: Stretch) => Found
  readonly statuses: (stretch: Stretch) => Found
  readonly links: (stretch: Stretch) => Found
  /** One of them by its id, whether or not it trends now. */
  readonly status: (id: bigint) => Found
  readonly link: (id: bigint) => Found
  readonly publishers: (page: Page) => Effect.Effect<ReadonlyArray<Publisher>>
  readonly publisher: (id: bigint) => Effect.Effect<ReadonlyArray<Publisher>>
}>()("murmuration/services/trends/TrendCandidates") {
  static readonly layer = Layer.effect(
    TrendCandidates,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const tail = ({ limit, offset }: Stretch) => sql`LIMIT ${rowsMax(sql, limit)} OFFSET ${offset}`
      const statuses = sql`SELECT s.id, w.status_id IS NULL AND a.trendable IS NULL AS requires_review
        FROM statuses s JOIN accounts a ON a.id = s.account_id LEFT JOIN status_reviews w ON w.status_id = s.id`
      const links = sql`SELECT c.id, c.trendable IS NULL AND p.trendable IS NULL AS requires_review
        FROM preview_cards c LEFT JOIN preview_card_providers p ON p.site = c.site`
      const publishers = sql`SELECT id, site, trendable, reviewed_at, requested_review_at FROM preview_card_providers`
      return TrendCandidates.of({
        tags: traced("TrendCandidates.tags")(
          (stretch) =>
            candidateRows(sql`SELECT t.id, t.trendable IS NULL AS requires_review
              FROM tag_trends r JOIN tags t ON t.id = r.tag_id WHERE r.score > 0
              ORDER BY r.score DESC, t.id DESC ${tail(stretch)}`),
          Effect.orDie
        ),
        statuses: traced("TrendCandidates.statuses")(
          (stretch) =>
            candidateRows(sql`${statuses} JOIN status_trends r ON r.status_id = s.id
              WHERE s.deleted_at IS NULL AND a.suspended_at IS NULL ORDER BY r.score DESC, s.id DESC ${tail(stretch)}`),
          Effect.orDie
        ),
        links: traced("TrendCandidates.links")(
          (stretch) =>
            candidateRows(sql`${links} JOIN card_trends r ON r.card_id = c.id
              WHERE r.score > 0 AND c.details IS NOT NULL ORDER BY r.score DESC, c.id DESC ${tail(stretch)}`),
          Effect.orDie
        ),
        status: traced("TrendCandidates.status")(
          (id) => candidateRows(sql`${statuses} WHERE s.id = ${id}`),
          Effect.orDie
        ),
        link: traced("TrendCandidates.link")((id) => candidateRows(sql`${links} WHERE c.id = ${id}`), Effect.orDie),
        publishers: traced("TrendCandidates.publishers")((page) => {
          const { tail, where } = clauses(sql, "id", page)
          return Effect.map(publisherRows(sql`${publishers} WHERE ${where} ${tail}`), (rows) => newestFirst(page, rows))
        }, Effect.orDie),
        publisher: traced("TrendCandidates.publisher")(
          (id) => publisherRows(sql`${publishers} WHERE id = ${id}`),
          Effect.orDie
        )
      })
    })
  )
}
