import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { AccountId } from "../../../src/services/database/Ids.ts"
import { HomeReasons } from "../../../src/services/feeds/HomeReasons.ts"
import * as NewestQuery from "../../../src/services/feeds/NewestQuery.ts"
import { TestDatabase } from "../../support/TestDatabase.ts"
import * as Worlds from "../../support/World.ts"

const counts = { shown: 0, hidden: 0 }

layer(HomeReasons.layer.pipe(Layer.provideMerge(TestDatabase.layer)), { excludeTestServices: true })(
  "reasons why a home does not show a status",
  (it) => {
    it.effect.prop(
      "F265: exist exactly for the statuses that the home does not show",
      { world: Worlds.World },
      ({ world }) =>
        Effect.gen(function*() {
          yield* TestClock.setTime(Worlds.now.getTime())
          const sql = yield* SqlClient.SqlClient
          const reasons = yield* HomeReasons
          const statuses = yield* Worlds.settle(world)
          for (const reader of [1n, 2n, 3n]) {
            const home = yield* NewestQuery.ofHome(sql, reader, { limit: 100 }, Worlds.now)
            const shown = new Set(home.map(({ id }) => id))
            for (const { id } of statuses) {
              const found = yield* reasons.of(AccountId.make(reader), id)
              const lasting = found?.filter((reason) => reason !== "filling" && reason !== "pending") ?? ["unknown"]
              assert.strictEqual(lasting.length === 0, shown.has(id), `${reader} ${id}: ${lasting.join(", ")}`)
              counts[shown.has(id) ? "shown" : "hidden"]++
            }
          }
        }).pipe(Effect.provide(TestClock.layer())),
      { arbitrary: { runs: 60 } }
    )

    it("compared many statuses", () => {
      assert.isAbove(counts.shown, 150)
      assert.isAbove(counts.hidden, 150)
    })
  }
)
