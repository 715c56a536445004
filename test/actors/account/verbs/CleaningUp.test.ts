import { assert, layer } from "@effect/vitest"
import { Clock, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { AccountActors } from "../../../../src/actors/account/core/AccountActors.ts"
import type { AccountId } from "../../../../src/services/database/Ids.ts"
import { AgendaEntries } from "../../../../src/services/intents/AgendaEntries.ts"
import { defaultCleanup } from "../../../../src/services/statuses/PostCleanup.ts"
import { PostCleanups } from "../../../../src/services/statuses/PostCleanups.ts"
import { layerActors } from "../../../support/Actors.ts"
import { eventually } from "../../../support/Eventually.ts"
import { person } from "../../../support/People.ts"
import { TestDatabase } from "../../../support/TestDatabase.ts"

const dayMillis = 86_400_000

let lastId = 0n

/** Stores posts of the given ages in days; returns their ids. */
const posts = Effect.fnUntraced(function*(account: AccountId, daysOld: ReadonlyArray<number>) {
  const sql = yield* SqlClient.SqlClient
  const now = yield* Clock.currentTimeMillis
  return yield* Effect.forEach(daysOld, (days) => {
    const at = new Date(now - days * dayMillis)
    return Effect.map(
      sql<{ id: bigint }>`INSERT INTO statuses (id, account_id, visibility, conversation_id, created_at)
        VALUES (${++lastId}, ${account}, 'public', 0, ${at}) RETURNING id`,
      ([row]) => row!.id
    )
  })
})

const policy = { ...defaultCleanup, enabled: true, minAgeDays: 30 }

layer(PostCleanups.layer.pipe(Layer.provideMerge(TestDatabase.layer)))("Selection of old posts", (it) => {
  it.effect("posts become due as they age, and exceptions are kept", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const cleanups = yield* PostCleanups
      const account = yield* person("ages")
      const [old = 0n, pinned = 0n, favourite = 0n, young = 0n] = yield* posts(account, [50, 45, 40, 29.99])
      yield* sql`INSERT INTO status_pins (account_id, status_id, id) VALUES (${account}, ${pinned}, 1)`
      yield* sql`INSERT INTO status_stats (status_id, favourites_count) VALUES (${favourite}, 5)`
      assert.isUndefined(yield* cleanups.step(account))
      yield* cleanups.write(account, { ...policy, minFavourites: 5 })
      assert.deepStrictEqual(yield* cleanups.step(account), { statusIds: [old], more: false })
      yield* sql`UPDATE statuses SET deleted_at = now() WHERE id = ${old}`
      assert.deepStrictEqual(yield* cleanups.step(account), { statusIds: [], more: false })
      yield* TestClock.adjust("1 hour")
      assert.deepStrictEqual(yield* cleanups.step(account), { statusIds: [young], more: false })
      yield* cleanups.write(account, { ...policy, minFavourites: 6, keepPinned: false })
      assert.deepStrictEqual(yield* cleanups.step(account), { statusIds: [pinned, favourite, young], more: false })
      yield* cleanups.write(account, { ...policy, enabled: false })
      assert.isUndefined(yield* cleanups.step(account))
    }))

  it.effect("a pass deletes ten posts per step, and each post once", () =>
    Effect.gen(function*() {
      const cleanups = yield* PostCleanups
      const account = yield* person("steps")
      const ids = yield* posts(account, Array.from({ length: 25 }, (_, at) => 100 - at))
      yield* cleanups.write(account, policy)
      const taken: Array<bigint> = []
      for (const expected of [10, 10, 5]) {
        const step = yield* cleanups.step(account)
        assert.lengthOf(step!.statusIds, expected)
        assert.strictEqual(step!.more, expected === 10)
        taken.push(...step!.statusIds)
      }
      assert.deepStrictEqual(taken, ids)
    }))
})

layer(AgendaEntries.layer.pipe(Layer.provideMerge(layerActors)), { excludeTestServices: true })(
  "Automated deletion by the account's actor",
  (it) => {
    it.effect("deletes old posts a few at a time, until it is switched off", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const actors = yield* AccountActors
        const account = yield* person("tidier")
        yield* posts(account, [...Array.from({ length: 12 }, (_, at) => 60 - at), 1])
        const left = sql<{ left: number }>`SELECT count(*)::int AS left FROM statuses
          WHERE account_id = ${account} AND deleted_at IS NULL`
        const entry = sql<{ dueAt: Date }>`SELECT due_at FROM agenda
          WHERE kind = 'post_cleanup' AND account_id = ${account}`
        /** Makes the next step due. */
        const next = sql`UPDATE agenda SET due_at = 'epoch' WHERE account_id = ${account}`.pipe(
          Effect.andThen(actors.wake(account))
        )
        yield* actors.tell(account, { _tag: "SetPostCleanup", policy })
        assert.lengthOf(yield* entry, 1)
        yield* next
        yield* eventually(left, ([row]) => row?.left === 3)
        yield* eventually(entry, ([row]) => row !== undefined && row.dueAt.getTime() > Date.now())
        const [soon] = yield* entry
        assert.isBelow(soon!.dueAt.getTime(), Date.now() + 120_000)
        yield* next
        yield* eventually(left, ([row]) => row?.left === 1)
        // The next pass is a day later.
        yield* eventually(entry, ([row]) => row !== undefined && row.dueAt.getTime() > Date.now() + 3_600_000)
        yield* actors.tell(account, { _tag: "SetPostCleanup", policy: { ...policy, enabled: false } })
        assert.deepStrictEqual(yield* entry, [])
      }))
  }
)
