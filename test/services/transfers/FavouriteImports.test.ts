import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { json, newPerson, publish } from "../../support/Api.ts"
import { exported, imported, importServer } from "./ListTransfers.ts"

layer(importServer, { excludeTestServices: true })("imports of favourites", (it) => {
  it.effect("F337: respect the policy of the author, and blocks", () =>
    Effect.gen(function*() {
      const [mae, ned, oda] = [yield* newPerson("mae"), yield* newPerson("ned"), yield* newPerson("oda")]
      const open = yield* publish(mae, "For everybody")
      const manual = yield* publish(mae, "Ask first", {
        interaction_policy: { can_favourite: { manual_approval: ["public"] } }
      })
      const closed = yield* publish(mae, "Look only", { interaction_policy: { can_favourite: { always: ["me"] } } })
      const blocked = yield* publish(ned, "A blocked author")
      yield* json(oda, `/api/v1/accounts/${ned.accountId}/block`, {})
      const done = yield* imported(
        oda,
        "favourites",
        [open, manual, closed, blocked].map(({ uri }) => String(uri)).join("\n")
      )
      assert.deepStrictEqual([done.added, done.failed], [1, 3])
      const sql = yield* SqlClient.SqlClient
      const left = yield* sql`SELECT reason FROM transfer_lines WHERE transfer_id = ${done.id} ORDER BY place`
      assert.deepStrictEqual(left.map((row) => row["reason"]), ["not_allowed", "not_allowed", "not_allowed"])
      assert.deepStrictEqual(yield* exported(oda, "favourites"), [String(open.uri)])
    }))
})
