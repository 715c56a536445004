import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { AccountId } from "../../database/Ids.ts"
import { idRows, rowsOf } from "../../database/Rows.ts"
import { ActorPath } from "../../instance/Urls.ts"
import { Jobs } from "../../intents/Jobs.ts"
import { traced } from "../../runtime/Traced.ts"

/** Time until a consent is checked again, in milliseconds, and maximum quotes per sweep. */
const recheckMillis = 7 * 86_400_000
const quotesMax = 200

const Standing = Schema.Struct({
  /** Quoting account, and the id of its post; null if the post is local. */
  author: AccountId,
  actorPath: ActorPath,
  uri: Schema.NullOr(Schema.String),
  authorization: Schema.String,
  quoted: Schema.String,
  quotedAuthor: Schema.String
})
const standingRows = rowsOf(Standing)

/** Accepted quotes with another server's consent, which is checked again weekly. */
export class QuoteConsents extends Context.Service<QuoteConsents, {
  /** Enqueues checks that are due. */
  readonly sweep: Effect.Effect<void, SqlError>
  /** Returns the consent to check; undefined if the quote is no longer accepted. */
  readonly find: (statusId: bigint) => Effect.Effect<typeof Standing.Type | undefined, SqlError>
}>()("murmuration/services/federation/inbox/QuoteConsents") {
  static readonly layer = Layer.effect(
    QuoteConsents,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const jobs = yield* Jobs
      return QuoteConsents.of({
        sweep: Effect.gen(function*() {
          const now = yield* Clock.currentTimeMillis
          const rows = yield* idRows(sql`UPDATE quotes SET checked_at = ${new Date(now)} WHERE status_id IN (
              SELECT status_id FROM quotes WHERE state = 'accepted' AND authorization_uri IS NOT NULL
                AND coalesce(checked_at, created_at) < ${new Date(now - recheckMillis)}
              ORDER BY coalesce(checked_at, created_at) LIMIT ${sql.literal(String(quotesMax))} FOR UPDATE SKIP LOCKED)
            RETURNING status_id AS id`)
          yield* Effect.forEach(rows, ({ id }) => jobs.enqueue("consent", id), { discard: true })
        }).pipe(Effect.withSpan("QuoteConsents.sweep")),
        find: traced("QuoteConsents.find")((statusId) =>
          Effect.map(
            standingRows(
              sql`SELECT a.id AS author, a.actor_path, s.uri, q.authorization_uri AS authorization, t.uri AS quoted,
                b.uri AS quoted_author
              FROM quotes q JOIN statuses s ON s.id = q.status_id JOIN accounts a ON a.id = s.account_id
              JOIN statuses t ON t.id = q.quoted_status_id JOIN accounts b ON b.id = t.account_id
              WHERE q.status_id = ${statusId} AND q.state = 'accepted' AND q.authorization_uri IS NOT NULL
                AND s.deleted_at IS NULL AND t.deleted_at IS NULL AND t.uri IS NOT NULL AND b.uri IS NOT NULL`
            ),
            ([row]) => row
          )
        )
      })
    })
  )
}
