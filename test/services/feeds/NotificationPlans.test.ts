import { assert, layer } from "@effect/vitest"
import { Clock, Effect } from "effect"
import { SqlClient } from "effect/sql"
import { clauses } from "../../../src/services/database/Paging.ts"
import { everything, selectionCondition } from "../../../src/services/feeds/Notifications.ts"
import { person } from "../../support/People.ts"
import { TestDatabase } from "../../support/TestDatabase.ts"

layer(TestDatabase.layer, { excludeTestServices: true })("pages of notifications", (it) => {
  it.effect("are read newest first and not sorted, with any statistics of the table", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const [owner, other] = [yield* person("owner"), yield* person("other")]
      const now = new Date(yield* Clock.currentTimeMillis)
      const planOf = Effect.fnUntraced(function*(types: ReadonlyArray<string>) {
        const { tail, where } = clauses(sql, "n.id", { limit: 40 })
        const rows = yield* sql<{ readonly queryPlan: string }>`EXPLAIN SELECT n.id FROM notifications n
          WHERE ${selectionCondition(sql, owner, { ...everything, types }, now)} AND ${where} ${tail}`
        return rows.map((row) => Object.values(row)[0]).join("\n")
      })
      for (const state of ["before it looked", "afterwards"]) {
        if (state === "afterwards") {
          yield* sql`INSERT INTO notifications (id, account_id, type, from_account_id, status_id, created_at)
            SELECT n, (ARRAY[${owner}::bigint, ${other}])[1 + n % 2], 'favourite', ${other}, n, ${now}
            FROM generate_series(1, 5000) n`
          yield* sql`ANALYZE notifications`
        }
        for (const types of [[], ["mention"], ["mention", "favourite"]]) {
          const plan = yield* planOf(types)
          assert.notInclude(plan, "Sort", `${state}, ${types.join()}`)
          assert.include(plan, "using notifications_account ", `${state}, ${types.join()}`)
        }
      }
    }))
})
