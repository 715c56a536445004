import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import * as Wire from "../../../src/http/wire/EncryptedMessage.ts"
import { call } from "../../support/Api.ts"
import { type Person, TestServer } from "../../support/Server.ts"
import { watching } from "../../support/WatchedStream.ts"
import { base, claim, count, deliver, follow, keysOf, messages, strict, withDevice } from "./EncryptedDevices.ts"

layer(TestServer.layer(), { excludeTestServices: true })("encrypted messages", (it) => {
  it.effect("S-229: devices have keys that others find, and each one-time key is given to one of them", () =>
    Effect.gen(function*() {
      const [anna, ben, cleo] = [yield* withDevice("anna"), yield* withDevice("ben"), yield* withDevice("cleo")]
      assert.strictEqual(yield* count(anna.token), 2)
      const { body: found } = yield* call("POST", `${base}/keys/query`, ben.token, {
        id: [String(anna.accountId), "1", "x"]
      })
      const queried = yield* Schema.decodeUnknownEffect(Schema.Array(Wire.DevicesOfAccount))(found, strict)
      assert.deepStrictEqual(queried, [
        { account_id: String(anna.accountId), devices: [anna.device] },
        { account_id: "1", devices: [] }
      ])
      yield* follow(anna, ben, cleo)
      const claims = yield* Effect.all([claim(ben, anna.named), claim(cleo, anna.named), claim(ben, anna.named)], {
        concurrency: "unbounded"
      })
      const keys = yield* Schema.decodeUnknownEffect(Schema.Array(Wire.ClaimedKey))(
        claims.flatMap(({ body }) => body),
        strict
      )
      assert.deepStrictEqual(keys.map(({ key_id }) => key_id).toSorted(), ["k1", "k2"])
      assert.strictEqual(yield* count(anna.token), 0)

      // A token belongs to one device; new keys end sessions of the old ones.
      const again = { device: anna.device, one_time_keys: [anna.keys.oneTime(9)] }
      assert.strictEqual((yield* call("POST", `${base}/keys/upload`, anna.token, again)).status, 200)
      assert.strictEqual(yield* count(anna.token), 1)
      yield* deliver(ben, { ...anna.named, type: 0, body: "secret", hmac: "h" })
      const other = { device: { ...anna.device, identity_key: Buffer.alloc(32, 8).toString("base64") } }
      assert.strictEqual((yield* call("POST", `${base}/keys/upload`, anna.token, other)).status, 200)
      assert.deepStrictEqual([yield* count(anna.token), (yield* messages(anna)).found], [0, []])
    }))

  it.effect("S-229: invalid, unsigned, foreign or too many keys are refused with a message", () =>
    Effect.gen(function*() {
      const { createToken } = yield* TestServer
      const dora = yield* withDevice("dora")
      const stranger = keysOf()
      const upload = (token: string, given: Record<string, unknown>) =>
        call("POST", `${base}/keys/upload`, token, given)
      const refused = [
        [{}, 400],
        [{ device: {} }, 422],
        [{ device: { ...dora.device, fingerprint_key: "short" } }, 422],
        [{ device: { ...dora.device, name: "x".repeat(300) } }, 422],
        [{ device: dora.device, one_time_keys: [stranger.oneTime(3)] }, 422],
        [{ device: dora.device, one_time_keys: [{ ...dora.keys.oneTime(3), signature: "" }] }, 422],
        [{ device: dora.device, one_time_keys: "nonsense" }, 422]
      ] as const
      for (const [given, status] of refused) {
        assert.strictEqual((yield* upload(dora.token, given)).status, status, JSON.stringify(given).slice(0, 60))
      }
      assert.strictEqual(yield* count(dora.token), 2)
      const second = yield* createToken(dora.accountId, ["crypto"])
      const { body, status } = yield* upload(second, { device: dora.device })
      assert.deepStrictEqual([status, body.error], [422, "Validation failed: Device has already been taken"])
      assert.strictEqual((yield* call("GET", `${base}/keys/count`, second)).status, 404)
      assert.strictEqual((yield* call("GET", `${base}/encrypted_messages`, second)).status, 404)
      assert.strictEqual((yield* deliver({ ...dora, token: second }, dora.named)).status, 404)
      for (const bad of [{ type: -1 }, { body: "" }, { body: "x".repeat(70_000) }, { hmac: "h".repeat(300) }]) {
        const given = { ...dora.named, type: 0, body: "b", hmac: "h", ...bad }
        assert.strictEqual((yield* deliver(dora, given)).status, 422)
      }
      const plain = yield* createToken(dora.accountId, ["read", "write"])
      assert.strictEqual((yield* call("GET", `${base}/keys/count`, plain)).status, 403)
      // Refused before any signature is verified: verifying a thousand would block the process.
      const many = Array.from({ length: 501 }, (_, n) => ({ ...dora.keys.oneTime(3), key_id: `k${n}`, signature: "" }))
      const { body: tooMany } = yield* upload(dora.token, {
        device: dora.device,
        one_time_keys: many
      })
      assert.match(tooMany.error, /Keys are too many/)
    }))

  it.effect("S-094 S-229: messages arrive at their device, in its stream and in pages, until it clears them", () =>
    Effect.gen(function*() {
      const { createToken } = yield* TestServer
      const sql = yield* SqlClient.SqlClient
      const [eve, finn] = [yield* withDevice("eve"), yield* withDevice("finn")]
      const phone = yield* watching(finn)
      const elsewhere = yield* watching({ ...finn, token: yield* createToken(finn.accountId, ["crypto", "read"]) })
      const sent = Array.from(
        { length: 3 },
        (_, n) => ({ ...finn.named, type: n % 2, body: `cipher ${n}`, hmac: `h${n}` })
      )
      const nobody = { account_id: "1", device_id: "none", type: 0, body: "b", hmac: "h" }
      const { body, status } = yield* deliver(eve, ...sent, nobody)
      assert.deepStrictEqual({ status, body }, { status: 200, body: {} })
      const [event, payload] = yield* phone.next("encrypted_message")
      assert.strictEqual(event, "encrypted_message")
      const { found } = yield* messages(finn)
      assert.deepStrictEqual(found.map((one) => [one.account_id, one.device_id, one.type, one.body, one.digest]), [
        [String(eve.accountId), "eve-phone", 0, "cipher 2", "h2"],
        [String(eve.accountId), "eve-phone", 1, "cipher 1", "h1"],
        [String(eve.accountId), "eve-phone", 0, "cipher 0", "h0"]
      ])
      assert.deepStrictEqual(
        yield* Schema.decodeUnknownEffect(Schema.fromJsonString(Wire.EncryptedMessage))(payload),
        found[2]
      )
      // The account's other streams get later events, and not this one.
      yield* sql`SELECT pg_notify('murmuration', ${
        JSON.stringify({ _tag: "FiltersChanged", accountId: String(finn.accountId) })
      })`
      assert.strictEqual((yield* elsewhere.next(""))[0], "filters_changed")
      const { found: [newest], link } = yield* messages(finn, "?limit=1")
      assert.strictEqual(newest?.body, "cipher 2")
      assert.include(link, `max_id=${newest?.id}`)
      assert.deepStrictEqual((yield* messages(eve)).found, [])

      const clear = (by: Person, up_to_id?: string) =>
        call("POST", `${base}/encrypted_messages/clear`, by.token, { up_to_id })
      assert.strictEqual((yield* clear(finn)).status, 400)
      yield* clear(eve, found[0]!.id)
      assert.strictEqual((yield* messages(finn)).found.length, 3)
      assert.deepStrictEqual((yield* clear(finn, found[1]!.id)).body, {})
      assert.deepStrictEqual((yield* messages(finn)).found.map((one) => one.body), ["cipher 2"])

      yield* call("POST", `/api/v1/accounts/${eve.accountId}/block`, yield* createToken(finn.accountId, ["write"]))
      assert.strictEqual((yield* deliver(eve, sent[0])).status, 200)
      assert.deepStrictEqual((yield* claim(eve, finn.named)).body, [])
      assert.strictEqual((yield* messages(finn)).found.length, 1)
    }).pipe(Effect.scoped))

  it.effect("F13: a message is bounded in bytes, and so is a page, which links to the next", () =>
    Effect.gen(function*() {
      const [nora, olaf] = [yield* withDevice("nora"), yield* withDevice("olaf")]
      const wide = yield* deliver(nora, { ...olaf.named, type: 0, body: "\u4e2d".repeat(30_000), hmac: "h" })
      assert.strictEqual(wide.status, 422)
      const message = { ...olaf.named, type: 0, body: "b".repeat(65_536), hmac: "h" }
      for (let n = 0; n < 4; n++) yield* deliver(nora, ...Array.from({ length: 15 }, () => message))
      const { found: first, link } = yield* messages(olaf)
      assert.isAbove(first.length, 10)
      assert.isBelow(Buffer.byteLength(JSON.stringify(first)), 2 * 1_048_576)
      const all = [...first]
      for (let next = /[?&](max_id=\d+)[^>]*>; rel="next"/.exec(link)?.[1]; next !== undefined;) {
        const page = yield* messages(olaf, `?${next}`)
        all.push(...page.found)
        next = /[?&](max_id=\d+)[^>]*>; rel="next"/.exec(page.link)?.[1]
      }
      assert.strictEqual(new Set(all.map(({ id }) => id)).size, 60)
      const { found: oldest } = yield* messages(olaf, "?min_id=1&limit=3")
      assert.deepStrictEqual(oldest.map(({ id }) => id), all.slice(-3).map(({ id }) => id))
    }))
})
