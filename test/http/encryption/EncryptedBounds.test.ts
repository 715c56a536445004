import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { TestServer } from "../../support/Server.ts"
import { claim, count, deliver, follow, withDevice } from "./EncryptedDevices.ts"

layer(TestServer.layer(), { excludeTestServices: true })("bounds of encrypted messages", (it) => {
  it.effect("F74: strangers neither displace pending messages of a device nor fill all of its capacity", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const [rita, friend, stranger] = [
        yield* withDevice("rita"),
        yield* withDevice("friend"),
        yield* withDevice("odd")
      ]
      yield* follow(rita, friend)
      const message = { ...rita.named, type: 0, body: "b", hmac: "h" }
      const many = (count: number) => Array.from({ length: count }, () => message)
      assert.strictEqual((yield* deliver(friend, message)).status, 200)
      const responses = yield* Effect.all(
        Array.from({ length: 4 }, () => deliver(stranger, ...many(50))),
        { concurrency: "unbounded" }
      )
      assert.deepStrictEqual(responses.map(({ status }) => status).toSorted(), [200, 200, 422, 422])
      // A request is refused as a whole, so that its sender knows which messages were stored.
      const waiting = sql<{ from: bigint; count: number }>`SELECT from_account_id AS "from", count(*)::int AS count
        FROM encrypted_messages WHERE from_account_id IN (${friend.accountId}, ${stranger.accountId})
        GROUP BY 1 ORDER BY 2`
      assert.deepStrictEqual((yield* waiting).map(({ count }) => count), [1, 100])
      // Many strangers fill their half.
      const { createPerson } = yield* TestServer
      const others = yield* Effect.forEach(["anna", "ben", "cleo", "nora"], (name) => createPerson(name))
      yield* sql`INSERT INTO encrypted_messages (id, device, from_account_id, from_device_id, type, body, digest,
          message_franking, created_at)
        SELECT next_id(2), d.id, a.id, 'x', 0, 'b', 'h', 'f', now() FROM devices d, generate_series(1, 100) n,
          unnest(${others.map(({ accountId }) => accountId)}::bigint[]) a (id)
        WHERE d.account_id = ${rita.accountId}`
      assert.strictEqual((yield* deliver(yield* withDevice("late"), message)).status, 422)
      assert.strictEqual((yield* deliver(friend, ...many(100))).status, 200)
      assert.deepStrictEqual((yield* waiting).map(({ count }) => count), [100, 101])
    }))

  it.effect("F74: strangers leave a device's last one-time keys to accounts that its owner follows", () =>
    Effect.gen(function*() {
      const [rosa, friend, stranger] = [
        yield* withDevice("rosa", 23),
        yield* withDevice("mate"),
        yield* withDevice("drain")
      ]
      yield* follow(rosa, friend)
      yield* Effect.all(Array.from({ length: 10 }, () => claim(stranger, rosa.named)), { concurrency: "unbounded" })
      assert.strictEqual(yield* count(rosa.token), 20)
      assert.lengthOf((yield* claim(friend, rosa.named)).body, 1)
      assert.deepStrictEqual((yield* claim(stranger, rosa.named)).body, [])
    }))
})
