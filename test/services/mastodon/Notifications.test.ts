import { NodeCrypto } from "@effect/platform-node"
import { assert, layer } from "@effect/vitest"
import { Effect, FileSystem, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { createECDH } from "node:crypto"
import { SealedTokens } from "../../../src/services/push/SealedTokens.ts"
import { Secrets } from "../../../src/services/secrets/Secrets.ts"
import { json } from "../../support/Api.ts"
import { idOf, rejected, servers, source, transferred } from "../../support/mastodon/Copies.ts"

/** Decrypts a token that the server encrypted. */
const opened = Effect.fnUntraced(function*(sealed: unknown) {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql<{ value: string }>`SELECT value FROM secrets WHERE name = 'signing_key'`
  const secrets = Layer.succeed(
    Secrets,
    Secrets.of({ signingKey: Redacted.make(row?.value ?? ""), vapid: { publicKey: "", privateKey: Redacted.make("") } })
  )
  const tokens = yield* Effect.provide(
    SealedTokens,
    SealedTokens.layer.pipe(Layer.provide(secrets), Layer.provide(NodeCrypto.layer))
  )
  const token = sealed instanceof Uint8Array ? tokens.decrypt(sealed) : undefined
  return token && Redacted.value(token)
})
const now = new Date()

/** Makes VAPID keys, padded like Ruby's. */
const vapidPair = () => {
  const pair = createECDH("prime256v1")
  pair.generateKeys()
  const padded = (key: Buffer) => key.toString("base64").replaceAll("+", "-").replaceAll("/", "_")
  return { privateKey: padded(pair.getPrivateKey()), publicKey: padded(pair.getPublicKey()) }
}

layer(servers, { excludeTestServices: true })("notifications of a Mastodon server", (it) => {
  it.effect("are copied for 30 days if their objects are here, with the subscriptions of apps and the VAPID pair", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const fs = yield* FileSystem.FileSystem
      const from = yield* source("4.7")
      const { insert } = from
      const ada = yield* from.person(idOf(1), "ada")
      const bert = yield* from.person(idOf(2), "bert")
      const zoe = yield* from.stranger(idOf(3), "zoe")
      const token = (id: bigint, more: object) => ({ id, token: `token-${id}`, scopes: "read push", ...more })
      yield* insert("oauth_applications", {
        id: 9n,
        name: "Web",
        uid: "w",
        secret: "w",
        scopes: "read",
        superapp: true
      })
      yield* insert(
        "oauth_access_tokens",
        token(1n, { resourceOwnerId: ada.userId }),
        token(2n, { resourceOwnerId: bert.userId, applicationId: 9n }),
        token(3n, { resourceOwnerId: bert.userId }),
        token(4n, { resourceOwnerId: bert.userId })
      )
      const written = (n: number, accountId: bigint, more: object = {}) => ({
        id: idOf(n),
        accountId,
        local: true,
        text: "x",
        ...more
      })
      yield* insert(
        "statuses",
        written(10, ada.id),
        written(11, bert.id, { text: "@ada hello" }),
        written(12, bert.id, { reblogOfId: idOf(10) }),
        written(13, zoe.id, { local: false, uri: "https://far.example/posts/13" }),
        written(14, bert.id, { text: "quotes ada" })
      )
      yield* insert("mentions", { id: 5n, statusId: idOf(11), accountId: ada.id }, {
        id: 6n,
        statusId: idOf(98),
        accountId: ada.id
      })
      yield* insert("favourites", { id: 7n, accountId: bert.id, statusId: idOf(10) })
      yield* insert("follows", { id: 8n, accountId: zoe.id, targetAccountId: ada.id })
      yield* insert("quotes", {
        id: idOf(60),
        accountId: bert.id,
        statusId: idOf(14),
        quotedStatusId: idOf(10),
        quotedAccountId: ada.id,
        state: 1
      })
      yield* insert("reports", { id: 3n, accountId: bert.id, targetAccountId: zoe.id })
      yield* insert("account_warnings", { id: 4n, accountId: bert.id, targetAccountId: ada.id, text: "careful" })
      const told = (id: bigint, activityType: string, activityId: bigint, more: object = {}) => ({
        id,
        accountId: ada.id,
        fromAccountId: bert.id,
        activityType,
        activityId,
        createdAt: now,
        updatedAt: now,
        ...more
      })
      yield* insert(
        "notifications",
        told(100n, "Mention", 5n, { type: "mention", filtered: true }),
        told(101n, "Status", idOf(12), { type: null }),
        told(102n, "Favourite", 7n, { type: "favourite" }),
        told(103n, "Follow", 8n, { type: "follow", fromAccountId: zoe.id }),
        told(104n, "Quote", idOf(60), { type: "quote" }),
        told(105n, "Report", 3n, { type: "admin.report" }),
        told(106n, "AccountWarning", 4n, { type: "moderation_warning", fromAccountId: ada.id }),
        told(107n, "Mention", 6n, { type: "mention" }),
        told(108n, "Status", idOf(10), { type: "update", createdAt: new Date(0) }),
        told(109n, "GeneratedAnnualReport", 1n, { type: "annual_report" }),
        told(110n, "Follow", 9n, { type: "follow", fromAccountId: 777n }),
        told(111n, "Status", idOf(13), { type: "status", accountId: zoe.id })
      )
      yield* insert("notification_policies", { accountId: ada.id, forNotFollowing: 1, forBots: 2 })
      yield* insert("notification_permissions", { accountId: ada.id, fromAccountId: zoe.id })
      yield* insert("notification_requests", { id: idOf(70), accountId: ada.id, fromAccountId: bert.id }, {
        id: idOf(71),
        accountId: ada.id,
        fromAccountId: 777n
      })
      const subscription = (id: bigint, accessTokenId: bigint, more: object = {}) => ({
        id,
        accessTokenId,
        endpoint: `https://push.example/${id}`,
        keyP256dh: "key",
        keyAuth: "auth",
        data: JSON.stringify({ policy: "followed", alerts: { mention: true, poll: "true", follow: false } }),
        ...more
      })
      yield* insert(
        "web_push_subscriptions",
        subscription(20n, 1n, { standard: true }),
        subscription(21n, 2n),
        subscription(22n, 3n, { endpoint: "http://127.0.0.1/" }),
        subscription(23n, 4n, { data: "null" })
      )
      const { privateKey, publicKey } = vapidPair()
      const withoutPair = yield* fs.readFileString(from.env)
      const key = sql`SELECT value FROM secrets WHERE name = 'vapid_key'`
      const own = yield* key
      yield* fs.writeFileString(
        from.env,
        `${withoutPair}\nVAPID_PRIVATE_KEY=${privateKey}\nVAPID_PUBLIC_KEY=${vapidPair().publicKey}\n`
      )
      assert.include(yield* transferred(from, "plan"), "no valid VAPID pair")
      assert.deepStrictEqual(yield* key, own)
      yield* fs.writeFileString(
        from.env,
        `${withoutPair}\nVAPID_PRIVATE_KEY=${privateKey}\nVAPID_PUBLIC_KEY=${publicKey}\n`
      )
      yield* transferred(from, "copy")
      yield* transferred(from, "copy")
      assert.deepStrictEqual(
        yield* rejected(from),
        [`notification requests ${idOf(71)}`, "push subscriptions 22"]
      )
      assert.deepStrictEqual(yield* key, [{ value: privateKey.replace("=", "") }])
      const stored = (id: bigint, type: string, more: object) => ({
        id,
        accountId: ada.id,
        type,
        by: bert.id,
        statusId: 0n,
        reportId: 0n,
        filtered: false,
        ...more
      })
      assert.deepStrictEqual(
        yield* sql`SELECT id, account_id, type, from_account_id AS by, status_id, report_id, filtered FROM notifications ORDER BY id`,
        [
          stored(100n, "mention", { statusId: idOf(11), filtered: true }),
          stored(101n, "reblog", { statusId: idOf(10) }),
          stored(102n, "favourite", { statusId: idOf(10) }),
          stored(103n, "follow", { by: zoe.id }),
          stored(104n, "quote", { statusId: idOf(14) }),
          stored(105n, "admin.report", { reportId: 3n }),
          stored(106n, "moderation_warning", { by: ada.id, statusId: 4n })
        ]
      )
      const shown = yield* json({ token: "token-1" }, "/api/v1/notifications")
      assert.deepStrictEqual(
        shown.map(({ id, type }: Record<string, unknown>) => [id, type]),
        [["106", "moderation_warning"], ["104", "quote"], ["103", "follow"], ["102", "favourite"], ["101", "reblog"]]
      )
      assert.deepInclude(shown[0].moderation_warning, { action: "none", text: "careful" })
      assert.deepStrictEqual(yield* sql`SELECT not_following, private_mentions, bots FROM notification_policies`, [
        { notFollowing: "filter", privateMentions: "filter", bots: "drop" }
      ])
      assert.deepStrictEqual(yield* sql`SELECT from_account_id FROM notification_permissions`, [{
        fromAccountId: zoe.id
      }])
      assert.deepStrictEqual(yield* sql`SELECT id FROM notification_requests`, [{ id: idOf(70) }])

      const [phone, other, ...more] = yield* sql`SELECT account_id, endpoint, standard, policy, alerts, sealed_token
        FROM push_subscriptions ORDER BY endpoint`
      assert.deepStrictEqual(more, [])
      assert.deepInclude(phone, {
        accountId: ada.id,
        endpoint: "https://push.example/20",
        standard: true,
        policy: "followed",
        alerts: { mention: true, poll: true, follow: false }
      })
      assert.deepInclude(other, { endpoint: "https://push.example/23", policy: "all", alerts: {} })
      assert.strictEqual(yield* opened(phone?.["sealedToken"]), "token-1")

      yield* from.sql`DELETE FROM web_push_subscriptions WHERE id = 20`
      yield* from.sql`DELETE FROM notifications WHERE id = 102`
      yield* transferred(from, "delta")
      assert.deepStrictEqual(yield* sql`SELECT endpoint FROM push_subscriptions`, [{
        endpoint: "https://push.example/23"
      }])
      assert.deepStrictEqual(yield* sql`SELECT id FROM notifications WHERE id = 102`, [])
    }))
})
