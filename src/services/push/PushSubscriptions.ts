import { Clock, Context, Effect, Layer, type Redacted, Result, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { TokenId } from "../database/Ids.ts"
import { rowsOf } from "../database/Rows.ts"
import { retryDeadlocks, transaction } from "../database/Transactions.ts"
import { ServerConfig } from "../instance/ServerConfig.ts"
import { destination } from "../outbound/Destinations.ts"
import { RecordNotFound, type Unprocessable, validationFailed } from "../runtime/Errors.ts"
import { traced } from "../runtime/Traced.ts"
import { PushMessages } from "./PushMessages.ts"
import { SealedTokens } from "./SealedTokens.ts"

/** Maximum characters of an endpoint and of a key. */
const endpointCharactersMax = 2_048
const keyCharactersMax = 256

export const PushPolicy = Schema.Literals(["all", "followed", "follower", "none"])
type PushPolicy = typeof PushPolicy.Type

/** Notifications that an app wants. */
interface Wanted {
  readonly policy: PushPolicy
  /** Alerts by notification type. */
  readonly alerts: Readonly<Record<string, boolean>>
}

interface NewSubscription extends Wanted {
  readonly endpoint: string
  readonly p256dh: string
  readonly auth: string
  readonly standard: boolean
}

const Subscription = Schema.Struct({
  id: Schema.BigInt,
  endpoint: Schema.String,
  standard: Schema.Boolean,
  policy: PushPolicy,
  alerts: Schema.Record(Schema.String, Schema.Boolean)
})
export type Subscription = typeof Subscription.Type
const subscriptionRows = rowsOf(Subscription)

/** Web Push subscriptions: one per access token, deleted with it. */
export class PushSubscriptions extends Context.Service<PushSubscriptions, {
  readonly find: (tokenId: TokenId) => Effect.Effect<Subscription, RecordNotFound>
  /** Replaces the token's subscription; each message tells the app its `token`. */
  readonly replace: (
    owner: { readonly tokenId: TokenId; readonly token: Redacted.Redacted },
    subscription: NewSubscription
  ) => Effect.Effect<Subscription, RecordNotFound | Unprocessable>
  /** Replaces the policy and all alerts. */
  readonly change: (tokenId: TokenId, wanted: Wanted) => Effect.Effect<Subscription, RecordNotFound>
  readonly remove: (tokenId: TokenId) => Effect.Effect<void>
  /** Deletes a subscription that its push service has reported as gone. */
  readonly expire: (id: bigint, endpoint: string) => Effect.Effect<void>
}>()("murmuration/services/push/PushSubscriptions") {
  static readonly layerNoDeps = Layer.effect(
    PushSubscriptions,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const messages = yield* PushMessages
      const sealed = yield* SealedTokens
      const { mailFrom, outboundAllow } = yield* ServerConfig
      const columns = sql.literal("id, endpoint, standard, policy, alerts")
      const retrying = retryDeadlocks(sql)
      const found = (rows: ReadonlyArray<Subscription>) =>
        rows[0] === undefined ? Effect.fail(new RecordNotFound()) : Effect.succeed(rows[0])

      /** Refuses endpoints that the server would never contact, and keys that cannot encrypt. */
      const check = Effect.fnUntraced(function*({ auth, endpoint, p256dh, standard }: NewSubscription) {
        const blank = [["Endpoint", endpoint], ["Key p256dh", p256dh], ["Key auth", auth]].flatMap(([name, value]) =>
          value === "" ? [`${name} can't be blank`] : []
        )
        if (blank.length > 0) return yield* validationFailed(...blank)
        const url = destination(outboundAllow, endpoint)
        if (endpoint.length > endpointCharactersMax || Result.isFailure(url)) {
          return yield* validationFailed("Endpoint is invalid")
        }
        const invalid = validationFailed("is not a valid Ed25519 or Curve25519 key")
        if (p256dh.length > keyCharactersMax || auth.length > keyCharactersMax) return yield* invalid
        yield* Effect.mapError(messages.message({ endpoint, p256dh, auth, standard }, "{}", mailFrom), () => invalid)
      })

      const replace: PushSubscriptions["Service"]["replace"] = traced("PushSubscriptions.replace")(
        function*({ token, tokenId }, given) {
          yield* check(given)
          const { alerts, auth, endpoint, p256dh, policy, standard } = given
          const at = new Date(yield* Clock.currentTimeMillis)
          const sealedToken = yield* sealed.encrypt(token)
          const rows = yield* transaction(sql)(Effect.gen(function*() {
            // The lock serialises changes for one token, and a revoked token gets no subscription.
            yield* sql`SELECT FROM oauth_tokens WHERE id = ${tokenId} FOR NO KEY UPDATE`
            // Pending pushes are not for the new keys.
            yield* sql`DELETE FROM push_subscriptions WHERE token_id = ${tokenId}`
            return yield* subscriptionRows(sql`
              INSERT INTO push_subscriptions (token_id, account_id, endpoint, p256dh, auth, standard, policy, alerts,
                sealed_token, created_at)
              SELECT id, account_id, ${endpoint}, ${p256dh}, ${auth}, ${standard}, ${policy}, ${
              JSON.stringify(alerts)
            }::jsonb, ${sealedToken}::bytea, ${at} FROM oauth_tokens WHERE id = ${tokenId} AND revoked_at IS NULL
              RETURNING ${columns}`)
          })).pipe(Effect.orDie)
          return yield* found(rows)
        }
      )

      return PushSubscriptions.of({
        find: traced("PushSubscriptions.find")((tokenId) =>
          subscriptionRows(sql`SELECT ${columns} FROM push_subscriptions WHERE token_id = ${tokenId}`).pipe(
            Effect.orDie,
            Effect.flatMap(found)
          )
        ),
        replace,
        change: traced("PushSubscriptions.change")((tokenId, { alerts, policy }) =>
          subscriptionRows(
            sql`UPDATE push_subscriptions SET policy = ${policy}, alerts = ${
              JSON.stringify(alerts)
            }::jsonb WHERE token_id = ${tokenId} RETURNING ${columns}`
          ).pipe(Effect.orDie, Effect.flatMap(found))
        ),
        remove: traced("PushSubscriptions.remove")((tokenId) =>
          Effect.asVoid(Effect.orDie(retrying(sql`DELETE FROM push_subscriptions WHERE token_id = ${tokenId}`)))
        ),
        expire: traced("PushSubscriptions.expire")((id, endpoint) =>
          Effect.asVoid(Effect.orDie(retrying(sql`
            DELETE FROM push_subscriptions WHERE id = ${id} AND endpoint = ${endpoint}`)))
        )
      })
    })
  )
}
