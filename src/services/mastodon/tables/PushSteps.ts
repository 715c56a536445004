import { Effect, Redacted, Schema } from "effect"
import { PushPolicy } from "../../push/PushSubscriptions.ts"
import { SealedTokens } from "../../push/SealedTokens.ts"
import type { Step, TextRow } from "../Step.ts"

const Data = Schema.fromJsonString(Schema.Struct({
  policy: Schema.optionalKey(Schema.Unknown),
  alerts: Schema.optionalKey(Schema.Record(Schema.String, Schema.Unknown))
}))
const readData = Schema.decodeUnknownEffect(Data)
const isPolicy = Schema.is(PushPolicy)
/** Longest endpoint and key, in characters, as for new subscriptions. */
const lengths = "length(endpoint) > 2048 OR length(key_p256dh) > 256 OR length(key_auth) > 256"

/**
 * Subscriptions of apps to push notifications, which stay valid as the server keeps its VAPID pair. Those of browsers end
 * with their sessions.
 */
export const make = Effect.gen(function*() {
  const tokens = yield* SealedTokens
  const prepared = Effect.fnUntraced(function*(row: TextRow) {
    const { alerts = {}, policy } = yield* Effect.orElseSucceed(
      readData(row["data"] ?? "{}"),
      (): typeof Data.Type => ({})
    )
    const sealed = yield* tokens.encrypt(Redacted.make(row["token"] ?? ""))
    const wanted = Object.entries(alerts).map((
      [name, value]
    ) => [name, value === true || value === "true" || value === "1"])
    const copied: TextRow = {
      ...row,
      policy: isPolicy(policy) ? policy : "all",
      alerts: JSON.stringify(Object.fromEntries(wanted)),
      sealed: Buffer.from(sealed).toString("hex"),
      token: null
    }
    return copied
  })
  return {
    name: "push subscriptions",
    table: "web_push_subscriptions",
    joins: "JOIN oauth_access_tokens k ON k.id = t.access_token_id AND k.revoked_at IS NULL",
    columns: `id:bigint access_token_id:bigint endpoint key_p256dh key_auth data standard:boolean created_at:timestamptz
      updated_at:timestamptz`,
    computed: [["token", "k.token"]],
    prepared: "policy alerts sealed",
    prepare: (rows) => Effect.forEach(rows, prepared),
    // Tokens of browsers are not copied.
    skips: ["NOT EXISTS (SELECT FROM oauth_tokens k WHERE k.id = staged.access_token_id AND k.account_id IS NOT NULL)"],
    rejects: [
      ["endpoint !~ '^https://' OR endpoint IS NULL", "the endpoint is no HTTPS URL"],
      ["coalesce(key_p256dh, '') = '' OR coalesce(key_auth, '') = ''", "the subscription has no keys"],
      [lengths, "the endpoint or a key is too long"]
    ],
    write: [
      `INSERT INTO push_subscriptions (token_id, account_id, endpoint, p256dh, auth, standard, policy, alerts, sealed_token, created_at)
      SELECT k.id, k.account_id, s.endpoint, s.key_p256dh, s.key_auth, coalesce(s.standard, false), s.policy, s.alerts::jsonb,
        decode(s.sealed, 'hex'), s.created_at FROM staged s JOIN oauth_tokens k ON k.id = s.access_token_id ORDER BY s.id
      ON CONFLICT (token_id) DO UPDATE SET endpoint = excluded.endpoint, p256dh = excluded.p256dh, auth = excluded.auth,
        standard = excluded.standard, policy = excluded.policy, alerts = excluded.alerts`
    ],
    // Their ids are this server's own.
    renews: "push_subscriptions"
  } satisfies Step
})
