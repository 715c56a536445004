import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { AccountId } from "../../../src/services/database/Ids.ts"
import { Broadcast } from "../../../src/services/events/Broadcast.ts"
import { Markers } from "../../../src/services/feeds/Markers.ts"
import { groupKeyOf, parseGroupKey } from "../../../src/services/feeds/NotificationGroups.ts"
import { person } from "../../support/People.ts"
import { TestDatabase } from "../../support/TestDatabase.ts"

const services = Markers.layer.pipe(Layer.provide(Broadcast.layerMemory), Layer.provideMerge(TestDatabase.layer))

layer(services, { excludeTestServices: true })("Markers", (it) => {
  it.effect("S-164, S-224: positions get a new version with every change, and of two concurrent ones only one succeeds", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const markers = yield* Markers
      const account = yield* person("anna")
      const home = (lastReadId: bigint) => ({ timeline: "home" as const, lastReadId })
      const notifications = (lastReadId: bigint) => ({ timeline: "notifications" as const, lastReadId })
      assert.deepStrictEqual(yield* markers.of(account, ["home"]), [])
      const saved = yield* markers.save(account, [home(5n), notifications(7n)])
      assert.deepStrictEqual(saved.map(({ lastReadId, version }) => [lastReadId, version]), [[5n, 1], [7n, 1]])
      assert.strictEqual((yield* markers.save(account, [home(6n)]))[0]?.version, 2)
      assert.deepStrictEqual((yield* markers.of(account, ["home", "notifications"])).map(({ timeline }) => timeline), [
        "home",
        "notifications"
      ])

      const results = yield* Effect.all(
        Array.from(
          { length: 20 },
          (_, index) => Effect.exit(markers.save(account, [notifications(BigInt(index)), home(1n)]))
        ),
        { concurrency: 20 }
      )
      const won = results.filter(({ _tag }) => _tag === "Success").length
      assert.isAtLeast(won, 1)
      const [now] = yield* markers.of(account, ["home"])
      assert.strictEqual(now?.version, 2 + won)
      // Only own markers, and no partial saves: both timelines changed once per successful save.
      const versions =
        yield* sql`SELECT DISTINCT version - CASE timeline WHEN 'home' THEN 2 ELSE 1 END AS n FROM markers`
      assert.deepStrictEqual(versions, [{ n: won }])
      assert.deepStrictEqual(yield* markers.of(AccountId.make(4711n), ["home"]), [])
    }))

  it("a group's key identifies its group, and no other text is a key", () => {
    const record = {
      id: 9n,
      type: "favourite" as const,
      createdAt: new Date("2026-06-01T13:59:00Z"),
      fromAccountId: 2n,
      filtered: false,
      statusId: 5n
    }
    const from = Date.parse("2026-06-01T12:00:00Z")
    assert.deepStrictEqual(parseGroupKey(groupKeyOf(record)), { type: "favourite", statusId: 5n, from })
    const follow = { ...record, type: "follow" as const, statusId: undefined }
    assert.deepStrictEqual(parseGroupKey(groupKeyOf(follow)), { type: "follow", statusId: 0n, from })
    assert.strictEqual(parseGroupKey(groupKeyOf({ ...record, type: "mention" as const })), 9n)
    assert.strictEqual(parseGroupKey(groupKeyOf(record, new Set(["follow"]))), 9n)
    for (
      const key of ["", "favourite", "mention-1-2", "ungrouped-x", "favourite-1-2-3", "ungrouped-99999999999999999999"]
    ) {
      assert.isUndefined(parseGroupKey(key), key)
    }
  })
})
