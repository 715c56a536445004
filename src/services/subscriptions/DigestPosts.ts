import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { ServerConfig } from "../instance/ServerConfig.ts"
import { traced } from "../runtime/Traced.ts"

/** Posts for the next e-mail to their author's subscribers, which `EmailDigests` sends. */
export class DigestPosts extends Context.Service<DigestPosts, {
  /** Adds a new public post, in the current transaction, if its author has subscribers. */
  readonly enqueue: (accountId: bigint, statusId: bigint, at: Date) => Effect.Effect<void, SqlError>
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
        })
      })
    })
  )
}
