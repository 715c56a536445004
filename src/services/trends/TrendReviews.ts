import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { AccountId } from "../database/Ids.ts"
import { rowsOf, Timestamptz } from "../database/Rows.ts"
import { transaction } from "../database/Transactions.ts"
import { normalise } from "../html/HashtagNames.ts"
import { type NotAllowed, RecordNotFound } from "../runtime/Errors.ts"
import { traced } from "../runtime/Traced.ts"
import { AuditLog } from "../staff/AuditLog.ts"
import { requirePermission } from "../staff/Rank.ts"
import { bounded } from "../text/BoundedText.ts"

/**
 * Subject of a staff decision. A decision about an account or a site applies to its posts or pages without individual
 * review.
 */
export type TrendSubject =
  | { readonly kind: "tag"; readonly name: string }
  | { readonly kind: "tag"; readonly id: bigint }
  | { readonly kind: "status"; readonly id: bigint }
  | { readonly kind: "account"; readonly id: bigint }
  | { readonly kind: "link"; readonly cardId: bigint }
  | { readonly kind: "site"; readonly site: string }
  | { readonly kind: "site"; readonly id: bigint }

const Waiting = Schema.Struct({
  kind: Schema.Literals(["tag", "status", "link"]),
  id: Schema.BigInt,
  /** Name of the hashtag, or URL of the status or page. */
  name: Schema.String,
  /** Author of the status, or site of the page; empty for hashtags. */
  by: Schema.String,
  since: Schema.NullOr(Timestamptz)
})
type Waiting = typeof Waiting.Type
const waitingRows = rowsOf(Waiting)
const decidedRows = rowsOf(
  Schema.Struct({ id: Schema.BigInt, label: Schema.String, before: Schema.NullOr(Schema.Boolean) })
)

/** Maximum listed items of each kind. */
const waitingMax = 100

/** Trends that wait for review, and staff decisions about them (S-112, S-232). */
export class TrendReviews extends Context.Service<TrendReviews, {
  /** Trends to review by kind, highest score first. */
  readonly waiting: Effect.Effect<ReadonlyArray<Waiting>>
  /**
   * Decides if the subject may trend; fails with `RecordNotFound` if it does not exist. `by` is undefined for the
   * command line.
   */
  readonly decide: (
    by: AccountId | undefined,
    subject: TrendSubject,
    trendable: boolean
  ) => Effect.Effect<void, NotAllowed | RecordNotFound>
}>()("murmuration/services/trends/TrendReviews") {
  static readonly layer = Layer.effect(
    TrendReviews,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const audit = yield* AuditLog
      const standing = requirePermission(sql)

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
          case "tag": {
            const which = "id" in subject
              ? sql`id = ${subject.id}`
              : sql`name = ${normalise(bounded(subject.name.replace(/^[#＃]/, "")))}`
            return decidedRows(sql`UPDATE tags SET trendable = ${trendable}, reviewed_at = ${at}
              FROM (SELECT id AS old_id, trendable AS before FROM tags WHERE ${which} FOR UPDATE) old
              WHERE id = old_id RETURNING id, name AS label, before`)
          }
          case "status":
            return decidedRows(sql`INSERT INTO status_reviews AS w (status_id, trendable, reviewed_at)
              SELECT id, ${trendable}, ${at} FROM statuses WHERE id = ${subject.id} AND deleted_at IS NULL
              ON CONFLICT (status_id) DO UPDATE SET trendable = excluded.trendable, reviewed_at = excluded.reviewed_at
              RETURNING status_id AS id, (SELECT coalesce(s.url, s.uri, '') FROM statuses s WHERE s.id = status_id) AS label,
                (SELECT old.trendable FROM status_reviews old WHERE old.status_id = w.status_id) AS before`)
          case "account":
            return decidedRows(sql`UPDATE accounts SET trendable = ${trendable}, reviewed_at = ${at}
              FROM (SELECT id AS old_id, trendable AS before FROM accounts WHERE id = ${subject.id} FOR UPDATE) old
              WHERE id = old_id RETURNING id, username || coalesce('@' || domain, '') AS label, before`)
          case "link":
            return decidedRows(sql`UPDATE preview_cards SET trendable = ${trendable}
              FROM (SELECT id AS old_id, trendable AS before FROM preview_cards WHERE id = ${subject.cardId} FOR UPDATE) old
              WHERE id = old_id RETURNING id, url AS label, before`)
          case "site":
            return "id" in subject
              ? decidedRows(sql`UPDATE preview_card_providers SET trendable = ${trendable}, reviewed_at = ${at}
                FROM (SELECT id AS old_id, trendable AS before FROM preview_card_providers
                  WHERE id = ${subject.id} FOR UPDATE) old
                WHERE id = old_id RETURNING id, site AS label, before`)
              : decidedRows(sql`INSERT INTO preview_card_providers AS p (id, site, trendable, reviewed_at)
                VALUES (next_id(${now}), ${subject.site}, ${trendable}, ${at})
                ON CONFLICT (site) DO UPDATE SET trendable = excluded.trendable, reviewed_at = excluded.reviewed_at
                RETURNING id, site AS label,
                  (SELECT old.trendable FROM preview_card_providers old WHERE old.site = p.site) AS before`)
        }
      }
      const decide = Effect.fnUntraced(
        function*(by: AccountId | undefined, subject: TrendSubject, trendable: boolean) {
          if (by !== undefined) yield* standing(by, "manageTaxonomies")
          const [decided] = yield* decision(subject, trendable, yield* Clock.currentTimeMillis)
          if (decided === undefined) return yield* new RecordNotFound()
          const { before, id, label } = decided
          const change = { before: { trendable: before }, after: { trendable } }
          yield* subject.kind === "account"
            ? audit.record({ by, action: "change_trendable", target: { type: "account", id, label }, ...change })
            : audit.record({
              by,
              action: trendable ? "approve" : "reject",
              target: { type: subject.kind === "site" ? "publisher" : subject.kind, id, label },
              ...change
            })
        },
        transaction(sql),
        Effect.catchTag("SqlError", Effect.die)
      )

      return TrendReviews.of({ waiting, decide: traced("TrendReviews.decide")(decide) })
    })
  ).pipe(Layer.provide(AuditLog.layer))
}
