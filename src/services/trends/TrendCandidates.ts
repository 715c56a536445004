import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { boundedCount } from "../database/BoundedCounts.ts"
import { clauses, newestFirst, type OffsetPage, type Page, rowsMax } from "../database/Paging.ts"
import { rowsOf, Timestamptz } from "../database/Rows.ts"
import { traced } from "../runtime/Traced.ts"
import type { TrendSubject } from "./TrendReviews.ts"

/** A trend or candidate; `requiresReview` if staff have not reviewed it. */
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
/** A site whose pages trend or are candidates. */
export type Publisher = typeof Publisher.Type
const publisherRows = rowsOf(Publisher)

/** An account or a site, and its name for people. */
interface TrendOwner {
  readonly subject: TrendSubject
  readonly label: string
}
const authorRows = rowsOf(Schema.Struct({ id: Schema.BigInt, label: Schema.String }))
const siteRows = rowsOf(Schema.Struct({ site: Schema.String }))

/** Number of candidates of each kind. */
interface TrendTotals {
  readonly tags: number
  readonly statuses: number
  readonly links: number
  readonly publishers: number
}

type Found = Effect.Effect<ReadonlyArray<Candidate>>

/** Trends and candidates for review by staff, highest score first (S-232). */
export class TrendCandidates extends Context.Service<TrendCandidates, {
  readonly tags: (stretch: OffsetPage) => Found
  readonly statuses: (stretch: OffsetPage) => Found
  readonly links: (stretch: OffsetPage) => Found
  /** Returns one status by id, whether or not it trends. */
  readonly status: (id: bigint) => Found
  readonly link: (id: bigint) => Found
  readonly publishers: (page: Page) => Effect.Effect<ReadonlyArray<Publisher>>
  /**
   * Returns the authors of these posts, or the sites of these links, deduped: a decision about them applies to all
   * their posts or links.
   */
  readonly owners: (kind: "links" | "statuses", ids: ReadonlyArray<bigint>) => Effect.Effect<ReadonlyArray<TrendOwner>>
  /** Number of candidates of each kind, by `boundedCount`. */
  readonly totals: Effect.Effect<TrendTotals>
  readonly publisher: (id: bigint) => Effect.Effect<ReadonlyArray<Publisher>>
}>()("murmuration/services/trends/TrendCandidates") {
  static readonly layer = Layer.effect(
    TrendCandidates,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const tail = ({ limit, offset }: OffsetPage) => sql`LIMIT ${rowsMax(sql, limit)} OFFSET ${offset}`
      const statuses = sql`SELECT s.id, w.status_id IS NULL AND a.trendable IS NULL AS requires_review
        FROM statuses s JOIN accounts a ON a.id = s.account_id LEFT JOIN status_reviews w ON w.status_id = s.id`
      const links = sql`SELECT c.id, c.trendable IS NULL AND p.trendable IS NULL AS requires_review
        FROM preview_cards c LEFT JOIN preview_card_providers p ON p.site = c.site`
      const publishers = sql`SELECT id, site, trendable, reviewed_at, requested_review_at FROM preview_card_providers`
      const trendingTags = sql`FROM tag_trends r JOIN tags t ON t.id = r.tag_id WHERE r.score > 0`
      const trendingStatuses = sql`JOIN status_trends r ON r.status_id = s.id
        WHERE s.deleted_at IS NULL AND a.suspended_at IS NULL`
      const trendingLinks = sql`JOIN card_trends r ON r.card_id = c.id WHERE r.score > 0 AND c.details IS NOT NULL`
      const count = boundedCount(sql)
      return TrendCandidates.of({
        tags: traced("TrendCandidates.tags")(
          (stretch) =>
            candidateRows(sql`SELECT t.id, t.trendable IS NULL AS requires_review
              ${trendingTags}
              ORDER BY r.score DESC, t.id DESC ${tail(stretch)}`),
          Effect.orDie
        ),
        statuses: traced("TrendCandidates.statuses")(
          (stretch) =>
            candidateRows(sql`${statuses} ${trendingStatuses} ORDER BY r.score DESC, s.id DESC ${tail(stretch)}`),
          Effect.orDie
        ),
        links: traced("TrendCandidates.links")(
          (stretch) => candidateRows(sql`${links} ${trendingLinks} ORDER BY r.score DESC, c.id DESC ${tail(stretch)}`),
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
        owners: traced("TrendCandidates.owners")(function*(kind, ids) {
          if (kind === "statuses") {
            const authors = yield* authorRows(
              sql`SELECT DISTINCT a.id, a.username || coalesce('@' || a.domain, '') AS label
              FROM statuses s JOIN accounts a ON a.id = s.account_id WHERE s.id = ANY (${ids}::bigint[])`
            )
            return authors.map(({ id, label }): TrendOwner => ({
              subject: { kind: "account", id },
              label: `@${label}`
            }))
          }
          const sites = yield* siteRows(sql`SELECT DISTINCT site FROM preview_cards
            WHERE id = ANY (${ids}::bigint[]) AND site IS NOT NULL`)
          return sites.map(({ site }): TrendOwner => ({ subject: { kind: "site", site }, label: site }))
        }, Effect.orDie),
        totals: Effect.all({
          tags: count(sql`SELECT ${trendingTags}`),
          statuses: count(sql`SELECT FROM statuses s JOIN accounts a ON a.id = s.account_id ${trendingStatuses}`),
          links: count(sql`SELECT FROM preview_cards c ${trendingLinks}`),
          publishers: count(sql`SELECT FROM preview_card_providers`)
        }).pipe(Effect.withSpan("TrendCandidates.totals")),
        publisher: traced("TrendCandidates.publisher")(
          (id) => publisherRows(sql`${publishers} WHERE id = ${id}`),
          Effect.orDie
        )
      })
    })
  )
}
