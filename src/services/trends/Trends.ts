import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { Fragment } from "effect/sql/Statement"
import { type OffsetPage, rowsMax } from "../database/Paging.ts"
import { idRows, rowsOf } from "../database/Rows.ts"
import { ServerConfig } from "../instance/ServerConfig.ts"
import { type LanguagePreferences, preferredLanguages } from "../languages/Negotiation.ts"
import { RecordNotFound } from "../runtime/Errors.ts"
import { traced } from "../runtime/Traced.ts"
import { visibleTo } from "../statuses/Visibility.ts"
import { isHidden } from "../visibility/HiddenAccounts.ts"
import type { Viewer } from "../visibility/Viewer.ts"
import { mayTrend } from "./Eligible.ts"
import { linkDecay, statusDecay, tagDecay } from "./TrendScores.ts"

const languageRows = rowsOf(
  Schema.Struct({ locale: Schema.NullOr(Schema.String), chosen: Schema.NullOr(Schema.Array(Schema.String)) })
)

/**
 * Trends, highest score first: those that staff allowed and, with `TRENDS_REVIEW=off`, unreviewed ones. Staff decisions
 * apply from the next request on, and so does any change of a post or its author that excludes it.
 */
export class Trends extends Context.Service<Trends, {
  /** Returns ids of hashtags. */
  readonly tags: (stretch: OffsetPage) => Effect.Effect<ReadonlyArray<bigint>>
  /** Returns ids of statuses that the viewer may see, except of hidden accounts; the viewer's languages first. */
  readonly statuses: (
    viewer: Viewer,
    wishes: LanguagePreferences,
    stretch: OffsetPage
  ) => Effect.Effect<ReadonlyArray<bigint>>
  /** Returns ids of links' cards; the viewer's languages first. */
  readonly links: (
    viewer: Viewer,
    wishes: LanguagePreferences,
    stretch: OffsetPage
  ) => Effect.Effect<ReadonlyArray<bigint>>
  /** Returns the card of a trending page, by its URL key. */
  readonly link: (pageKey: string) => Effect.Effect<bigint, RecordNotFound>
}>()("murmuration/services/trends/Trends") {
  static readonly layer = Layer.effect(
    Trends,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { trendsReview } = yield* ServerConfig
      /** SQL expression: the first decision made, by default that for unreviewed items. */
      const allowed = (...decisions: ReadonlyArray<string>): Fragment =>
        sql`coalesce(${sql.literal(decisions.join(", "))}, ${sql.literal(String(trendsReview === "off"))})`
      const tail = ({ limit, offset }: OffsetPage) => sql`LIMIT ${rowsMax(sql, limit)} OFFSET ${offset}`
      const ids = (rows: ReadonlyArray<{ readonly id: bigint }>) => rows.map(({ id }) => id)

      /** Returns the languages that the viewer chose, otherwise those that it reads. */
      const languagesOf = Effect.fnUntraced(function*(viewer: Viewer, wishes: LanguagePreferences) {
        if (viewer === undefined) return preferredLanguages(wishes)
        const [user] = yield* languageRows(sql`
          SELECT locale, chosen_languages AS chosen FROM users WHERE account_id = ${viewer}`)
        return user?.chosen?.length ? user.chosen : preferredLanguages({ ...wishes, locale: user?.locale ?? undefined })
      })
      const first = (language: string, languages: ReadonlyArray<string>): Fragment => {
        const column = sql.literal(language)
        return sql`coalesce(${column} = ANY (${languages}::text[]) OR split_part(${column}, '-', 1) = ANY (${languages}::text[]), false) DESC`
      }

      const tags = traced("Trends.tags")(function*(stretch: OffsetPage) {
        return ids(
          yield* idRows(sql`SELECT t.id FROM tag_trends r JOIN tags t ON t.id = r.tag_id
            WHERE r.score >= ${tagDecay.scoreMin} AND t.usable AND ${allowed("t.trendable")}
            ORDER BY r.score DESC, t.id DESC ${tail(stretch)}`)
        )
      }, Effect.orDie)

      const statuses = traced("Trends.statuses")(
        function*(viewer: Viewer, wishes: LanguagePreferences, stretch: OffsetPage) {
          const languages = yield* languagesOf(viewer, wishes)
          const now = new Date(yield* Clock.currentTimeMillis)
          return ids(
            yield* idRows(sql`SELECT s.id FROM status_trends r JOIN statuses s ON s.id = r.status_id
            JOIN accounts a ON a.id = s.account_id LEFT JOIN status_reviews w ON w.status_id = s.id
            WHERE ${
              sql.and([
                sql`r.score >= ${statusDecay.scoreMin}`,
                allowed("w.trendable", "a.trendable"),
                mayTrend(sql, "s"),
                visibleTo(sql, viewer, "s"),
                ...(viewer === undefined
                  ? []
                  : [sql`NOT ${isHidden(sql, sql`${viewer}::bigint`, sql`s.account_id`, now)}`])
              ])
            } ORDER BY ${first("s.language", languages)}, r.score DESC, s.id DESC ${tail(stretch)}`)
          )
        },
        Effect.orDie
      )

      const trending = sql`FROM card_trends r JOIN preview_cards c ON c.id = r.card_id AND c.details IS NOT NULL
        LEFT JOIN preview_card_providers p ON p.site = c.site
        WHERE r.score >= ${linkDecay.scoreMin} AND ${allowed("c.trendable", "p.trendable")}`

      const links = traced("Trends.links")(function*(viewer: Viewer, wishes: LanguagePreferences, stretch: OffsetPage) {
        const languages = yield* languagesOf(viewer, wishes)
        return ids(
          yield* idRows(sql`SELECT c.id ${trending}
            ORDER BY ${first("(c.details->>'language')", languages)}, r.score DESC, c.id DESC ${tail(stretch)}`)
        )
      }, Effect.orDie)

      const link = traced("Trends.link")(function*(pageKey: string) {
        const [card] = yield* Effect.orDie(idRows(sql`SELECT c.id ${trending} AND c.url_key = ${pageKey}`))
        return card === undefined ? yield* new RecordNotFound() : card.id
      })

      return Trends.of({ tags, statuses, links, link })
    })
  )
}
