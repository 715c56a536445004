import { Clock, Context, Effect, Layer, Result } from "effect"
import { Base64Url } from "effect/encoding"
import { SqlClient } from "effect/sql"
import { TokenId } from "../database/Ids.ts"
import { idRows } from "../database/Rows.ts"
import { RecordNotFound } from "../runtime/Errors.ts"
import { traced } from "../runtime/Traced.ts"
import { OpaqueSecrets } from "../secrets/OpaqueSecrets.ts"
import * as Scopes from "./Scopes.ts"

/** Scopes of a session's token: those of the streams and of push. */
const scopes = Scopes.format(["read", "push"])

/** Browser session by its id, the hash of its secret in base64url. */
interface SessionRef {
  readonly sessionId: string
}

/**
 * Access tokens of browser sessions. Streams and push subscriptions belong to tokens, also those of the web client.
 * The token cannot be presented, because its secret is discarded at once. It is deleted with its session.
 */
export class SessionTokens extends Context.Service<SessionTokens, {
  /** Returns the token of a session, issued at the first use; fails if the session has ended. */
  readonly of: (session: SessionRef) => Effect.Effect<TokenId, RecordNotFound>
}>()("murmuration/services/oauth/SessionTokens") {
  static readonly layer = Layer.effect(
    SessionTokens,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const secrets = yield* OpaqueSecrets

      const of = traced("SessionTokens.of")(function*({ sessionId }: SessionRef) {
        const session = yield* Effect.mapError(
          Effect.fromResult(Result.mapError(Base64Url.decode(sessionId), () => undefined)),
          () => new RecordNotFound()
        )
        const find = idRows(sql`SELECT id FROM oauth_tokens WHERE session_hash = ${session} AND revoked_at IS NULL`)
        const [known] = yield* Effect.orDie(find)
        if (known !== undefined) return TokenId.make(known.id)
        const hash = yield* secrets.hash(yield* secrets.make)
        const now = yield* Clock.currentTimeMillis
        yield* Effect.orDie(sql`
          INSERT INTO oauth_tokens (id, token_hash, account_id, scopes, session_hash, created_at)
          SELECT next_id(${now}), ${hash}, account_id, ${scopes}, id_hash, ${new Date(now)} FROM sessions
          WHERE id_hash = ${session} FOR KEY SHARE
          ON CONFLICT (session_hash) WHERE session_hash IS NOT NULL AND revoked_at IS NULL DO NOTHING`)
        const [stored] = yield* Effect.orDie(find)
        return stored === undefined ? yield* new RecordNotFound() : TokenId.make(stored.id)
      })

      return SessionTokens.of({ of })
    })
  )
}
