import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { TestServer } from "../../support/Server.ts"
import { everything, type Json, name, path, responseOf, subscribed, toldOf, World, world } from "./PushDevices.ts"

layer(world, { excludeTestServices: true })("web push", (it) => {
  it.effect("S-005: a device decrypts its pushes, in the standard's encoding and in that of older apps", () =>
    Effect.gen(function*() {
      const { here, serverKey, service } = yield* World
      const [anna, ben] = [yield* here.person(name("anna")), yield* here.person(name("ben"))]
      const other = yield* Effect.provide(
        TestServer.use(({ createToken }) => createToken(anna.accountId, ["push"])),
        here.context
      )
      const phone = yield* subscribed(anna, { standard: true })
      const old = service.device(name("device"), serverKey)
      yield* here.fetch(path, {
        method: "POST",
        token: other,
        json: { subscription: { endpoint: old.endpoint, keys: old.keys }, data: { alerts: everything } }
      })
      const status = yield* ben.post(`Hello @${anna.username}, ${"ä𝄞👩‍👩‍👧‍👦 ".repeat(60)}`, { visibility: "private" })
      const [[first], [second]] = [yield* toldOf(phone, 1), yield* toldOf(old, 1)]
      const [notification] = yield* anna.ask("GET", "/api/v1/notifications")
      for (const [told, token, encoding] of [[first, anna.token, "aes128gcm"], [second, other, "aesgcm"]] as const) {
        const { access_token, body, icon, notification_type, preferred_locale, title } = told.message
        assert.deepStrictEqual([access_token, notification_type, preferred_locale], [token, "mention", "en"])
        assert.include(told.text, `"notification_id":${notification.id},`)
        assert.strictEqual(title, `You were mentioned by ${ben.username}`)
        assert.isTrue(body.startsWith(`Hello @${anna.username}, ä𝄞👩‍👩‍👧‍👦 ä`))
        assert.isTrue(body.endsWith("…"))
        assert.isTrue(body.isWellFormed())
        assert.isAtMost(Array.from(new Intl.Segmenter().segment(body)).length, 140)
        assert.isTrue(icon.startsWith(here.origin))
        assert.isAtMost(told.bytes, 4_096)
        assert.strictEqual(told.headers["content-encoding"], encoding)
        assert.deepInclude(told.headers, {
          ttl: "172800",
          urgency: "normal",
          "content-type": "application/octet-stream"
        })
        assert.match(told.headers.authorization, encoding === "aes128gcm" ? /^vapid t=.+, k=/ : /^WebPush /)
        assert.strictEqual(told.claims.aud, service.origin)
        assert.match(told.claims.sub, /^mailto:.+@/)
        assert.isAtMost(told.claims.exp, Date.now() / 1_000 + 86_400)
        assert.isAbove(told.claims.exp, Date.now() / 1_000)
      }
      // The database does not contain the private key.
      const rows = yield* here.sql`SELECT * FROM push_subscriptions`
      assert.notInclude(
        JSON.stringify(rows, (_, value) =>
          typeof value === "bigint"
            ? String(value)
            : value instanceof Uint8Array
            ? Buffer.from(value).toString("utf8")
            : value),
        anna.token
      )
      assert.isDefined(status)
    }).pipe(Effect.scoped))

  it.effect("S-090, S-155: the rows of push/subscription; one for each token, which the next one replaces", () =>
    Effect.gen(function*() {
      const { here, serverKey, service } = yield* World
      const anna = yield* here.person(name("anna"))
      const nothing = { status: 404, body: { error: "Record not found" } }
      assert.deepStrictEqual(yield* responseOf(here, anna, "GET"), nothing)
      assert.deepStrictEqual(yield* responseOf(here, anna, "PUT", { data: {} }), nothing)
      assert.deepStrictEqual(yield* responseOf(here, anna, "DELETE"), { status: 200, body: {} })
      const { endpoint, keys } = service.device(name("device"), serverKey)
      // As forms send it.
      const form = new URLSearchParams([
        ["subscription[endpoint]", endpoint],
        ["subscription[keys][p256dh]", keys.p256dh],
        ["subscription[keys][auth]", keys.auth],
        ["subscription[standard]", "true"],
        ["data[policy]", "followed"],
        ["data[alerts][mention]", "1"],
        ["data[alerts][follow]", "false"],
        ["data[alerts][admin.report]", "on"],
        ["data[alerts][nonsense]", "true"]
      ])
      const response = yield* here.fetch(path, { method: "POST", token: anna.token, body: form })
      const created: Json = yield* Effect.promise(() => response.json())
      assert.deepStrictEqual({ ...created, id: 0 }, {
        id: 0,
        endpoint,
        standard: true,
        alerts: { mention: true, follow: false, "admin.report": true },
        server_key: serverKey,
        policy: "followed"
      })
      assert.isTrue(Number.isInteger(created.id))
      assert.deepStrictEqual((yield* responseOf(here, anna, "GET")).body, created)
      const changed = yield* responseOf(here, anna, "PUT", { data: { alerts: { poll: true } } })
      assert.deepStrictEqual(changed.body, { ...created, alerts: { poll: true }, policy: "all" })
      assert.deepStrictEqual((yield* responseOf(here, anna, "PATCH", {})).body.alerts, {})
      const again = yield* responseOf(here, anna, "POST", { subscription: { endpoint, keys } })
      assert.deepInclude(again.body, { endpoint, standard: false, alerts: {}, policy: "all" })
      assert.notStrictEqual(again.body.id, created.id)
      yield* Effect.all(
        Array.from({ length: 4 }, () => responseOf(here, anna, "POST", { subscription: { endpoint, keys } })),
        {
          concurrency: 4
        }
      ).pipe(Effect.tap((all) => Effect.sync(() => all.forEach(({ status }) => assert.strictEqual(status, 200)))))
      yield* responseOf(here, anna, "DELETE")
      assert.deepStrictEqual(yield* responseOf(here, anna, "GET"), nothing)

      const app: Json = yield* Effect.promise(async () =>
        (await fetch(`${here.origin}/api/v1/apps`, {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: JSON.stringify({ client_name: "x", redirect_uris: "urn:ietf:wg:oauth:2.0:oob" })
        })).json()
      )
      assert.strictEqual(app.vapid_key, serverKey)
      assert.strictEqual(Buffer.from(serverKey, "base64url").length, 65)
    }).pipe(Effect.scoped))

  it.effect("an invalid endpoint, key or policy is refused with a message, and so is a token without push", () =>
    Effect.gen(function*() {
      const { here, service } = yield* World
      const anna = yield* here.person(name("anna"))
      const { endpoint, keys } = service.device(name("device"), "")
      const subscribe = (subscription: unknown, data?: unknown) =>
        responseOf(here, anna, "POST", { subscription, data })
      const invalid = { status: 422, body: { error: "Validation failed: Endpoint is invalid" } }
      for (
        const bad of [
          "nonsense",
          "ftp://push.example/x",
          "javascript:alert(1)",
          "http://10.0.0.1/x",
          "http://169.254.169.254/latest",
          "http://[::1]/x",
          // F75: private networks, also with TLS.
          "https://10.0.0.1/x",
          "https://[fd00::1]/x",
          "https://user:password@push.example/x",
          "https://push.example:25/x",
          `https://push.example/${"x".repeat(3_000)}`
        ]
      ) assert.deepStrictEqual(yield* subscribe({ endpoint: bad, keys }), invalid, bad)
      const key = { status: 422, body: { error: "Validation failed: is not a valid Ed25519 or Curve25519 key" } }
      const point = Buffer.from(keys.p256dh, "base64url")
      point[40] = (point[40] ?? 0) ^ 1
      for (
        const bad of [
          { ...keys, p256dh: "AAAA" },
          { ...keys, p256dh: point.toString("base64url") },
          { ...keys, auth: "AA" },
          { ...keys, auth: "x".repeat(100_000) }
        ]
      ) assert.deepStrictEqual(yield* subscribe({ endpoint, keys: bad }), key)
      assert.deepStrictEqual(yield* subscribe({ endpoint, keys: {} }), {
        status: 422,
        body: { error: "Validation failed: Key p256dh can't be blank, Key auth can't be blank" }
      })
      assert.deepStrictEqual(yield* subscribe({ endpoint, keys }, { policy: "some" }), {
        status: 422,
        body: { error: "Validation failed: Policy is not included in the list" }
      })
      assert.strictEqual((yield* responseOf(here, anna, "POST", {})).status, 400)
      for (const odd of [null, "x", 7, [], [[]], { endpoint: [], keys: [] }, { endpoint: {}, keys: { p256dh: [] } }]) {
        const { status } = yield* subscribe(odd)
        assert.isTrue(status >= 400 && status < 500, JSON.stringify(odd))
      }
      assert.strictEqual((yield* responseOf(here, anna, "GET")).status, 404)
    }).pipe(Effect.scoped))
})
