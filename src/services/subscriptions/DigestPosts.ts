import { Clock, Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { ServerConfig } from "../instance/ServerConfig.ts"
import { traced } from "../runtime/Traced.ts"

/** Posts for the next e-mail to their author's subscribers, which `EmailDigests` sends. */
export class DigestPosts extends Context.Service<DigestPosts, {
  /** Adds a new public post, in the current transaction, if its author has subscribers. */
  readonly enqueue: (accountId: bigint, statusId: bigint, at: Date) => Effect.Effect<void, SqlError>
  /** Adds a post that was held until now, if a new one like it would be added. */
  readonly enqueueRevealed: (statusId: bigint) => Effect.Effect<void, SqlError>
}>()("murmuration/services/subscriptions/DigestPosts") {
  static readonly layer = Layer.effect(
    DigestPosts,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { emailSubscriptions } = yield* ServerConfig
      return DigestPosts.of({
        enqueue: traced("DigestPosts.enqueue")(function*(accountId, statusId, at) {
          if (!emailSubscriptions) return
          yield* sql`INSERT INTO email_digest_posts (account_id, status_id, created_at)
            SELECT ${accountId}, ${statusId}, ${at} WHERE EXISTS (SELECT FROM email_subscriptions
              WHERE account_id = ${accountId} AND confirmed_at IS NOT NULL) ON CONFLICT DO NOTHING`
        }),
        enqueueRevealed: traced("DigestPosts.enqueueRevealed")(function*(statusId) {
          if (!emailSubscriptions) return
          yield* sql`INSERT INTO email_digest_posts (account_id, status_id, created_at)
            SELECT s.account_id, s.id, ${new Date(yield* Clock.currentTimeMillis)}
            FROM statuses s JOIN users u ON u.account_id = s.account_id AND u.email_subscriptions
            WHERE s.id = ${statusId} AND s.visibility = 'public'
              AND coalesce(s.in_reply_to_account_id, s.account_id) = s.account_id
              AND EXISTS (SELECT FROM email_subscriptions e WHERE e.account_id = s.account_id AND e.confirmed_at IS NOT NULL)
            ON CONFLICT DO NOTHING`
        })
      })
    })
  )
}
