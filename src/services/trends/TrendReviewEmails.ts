import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { rowsOf, Timestamptz } from "../database/Rows.ts"
import { Emails } from "../emails/Emails.ts"
import * as EmailTexts from "../emails/EmailTexts.ts"
import { UnsubscribeLinks } from "../emails/UnsubscribeLinks.ts"
import { withUnsubscribe } from "../emails/UnsubscribeTexts.ts"
import { staffWith } from "../identity/Staff.ts"
import { ServerConfig } from "../instance/ServerConfig.ts"
import { UserCatalogs } from "../instance/UserCatalogs.ts"
import { runIfDue, type Turn } from "../intents/Chores.ts"

/** Minimum time between e-mails about hashtags to review, in milliseconds, and maximum hashtags in one e-mail. */
const reviewMailMillis = 6 * 3_600_000
const namedMax = 50

const nameRows = rowsOf(Schema.Struct({ displayName: Schema.String }))
const choreRows = rowsOf(Schema.Struct({ begunAt: Timestamptz }))

const chore = "e-mails about trends"

/** E-mails to staff who may review trends. */
export class TrendReviewEmails extends Context.Service<TrendReviewEmails, {
  /**
   * E-mails staff about hashtags to review, each once (S-114), from one node of the cluster; returns true if there were
   * any.
   */
  readonly send: Effect.Effect<boolean, SqlError>
}>()("murmuration/services/trends/TrendReviewEmails") {
  static readonly layerNoDeps = Layer.effect(
    TrendReviewEmails,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { localDomain: server, publicUrl } = yield* ServerConfig
      const emails = yield* Emails
      const catalogs = yield* UserCatalogs
      const links = yield* UnsubscribeLinks

      /** Returns hashtags whose review was requested after a time, in milliseconds since 1970. */
      const waiting = (since: number) =>
        Effect.map(
          nameRows(sql`SELECT display_name FROM tags WHERE requested_review_at > ${new Date(since)}
            AND reviewed_at IS NULL AND trendable IS NULL ORDER BY requested_review_at, id LIMIT ${namedMax}`),
          (rows) => rows.map(({ displayName }) => displayName)
        )

      const tell = Effect.fnUntraced(function*({ before = 0 }: Turn) {
        const names = yield* waiting(before)
        const staff = yield* staffWith(sql, "manageTaxonomies", "trends")
        const post = Effect.forEach(
          staff,
          ({ accountId, email: to, locale }) =>
            emails.enqueue(Effect.map(catalogs.of({ locale: locale ?? undefined }), (words) =>
              withUnsubscribe(
                EmailTexts.trending({ to, server, names, address: `${publicUrl}/admin/trends` })(words),
                words,
                links.make("trends", accountId)
              ))),
          { discard: true }
        )
        yield* sql.afterCommit(post)
      })

      const send = Effect.gen(function*() {
        const now = yield* Clock.currentTimeMillis
        const [lastRun] = yield* choreRows(sql`SELECT begun_at FROM chores WHERE name = ${chore}`)
        // Without hashtags to report, the six hours do not start.
        const before = lastRun?.begunAt.getTime() ?? 0
        if (now - before < reviewMailMillis || (yield* waiting(before)).length === 0) return false
        return yield* runIfDue(sql, chore, reviewMailMillis, tell)
      }).pipe(Effect.withSpan("TrendReviewEmails.send"))

      return TrendReviewEmails.of({ send })
    })
  )
  static readonly layer = TrendReviewEmails.layerNoDeps.pipe(
    Layer.provide([UnsubscribeLinks.layer, UserCatalogs.layer])
  )
}
