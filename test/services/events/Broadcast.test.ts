import { assert, layer } from "@effect/vitest"
import { Cause, Effect, Exit, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { Broadcast, type BroadcastMessage } from "../../../src/services/events/Broadcast.ts"
import { committedOnly } from "../../support/CommittedOnly.ts"
import { TestDatabase } from "../../support/TestDatabase.ts"

const changed: BroadcastMessage = { _tag: "Changed", kind: "instance", ids: [] }

const live = Layer.fresh(Broadcast.layerMemory).pipe(
  Layer.provide(committedOnly),
  Layer.provideMerge(TestDatabase.layer)
)

layer(live, { excludeTestServices: true })("messages between nodes", (it) => {
  it.effect("I28, F103: a publish inside an open transaction is a defect in tests, and after its commit it is received", () =>
    Effect.scoped(Effect.gen(function*() {
      const bus = yield* Broadcast
      const sql = yield* SqlClient.SqlClient
      const heard: Array<string> = []
      yield* bus.onMessage(({ _tag }) => heard.push(_tag))

      const early = yield* Effect.exit(sql.withTransaction(Effect.andThen(sql`SELECT 1`, bus.publish(changed))))
      assert.include(Exit.isFailure(early) ? Cause.pretty(early.cause) : "", "inside of an open transaction")
      assert.deepStrictEqual(heard, [])

      yield* sql.withTransaction(Effect.andThen(sql`SELECT 1`, sql.afterCommit(bus.publish(changed))))
      yield* bus.publish(changed)
      assert.deepStrictEqual(heard, ["Changed", "Changed"])
    })))
})
