import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { kindOf, sweptAll, sweptRowsMax } from "../../../src/services/intents/Sweeping.ts"
import { TestDatabase } from "../../support/TestDatabase.ts"

layer(TestDatabase.layer, { excludeTestServices: true })("sweeps", (it) => {
  const rows = (count: number) => Array.from({ length: count })

  it.effect("F76: rows whose batch exceeds the statement timeout are removed in smaller batches", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const tooLong = sql.withTransaction(
        Effect.andThen(sql`SET LOCAL statement_timeout = 1`, sql`SELECT pg_sleep(10)`)
      )
      let left = 1_000
      const slow = kindOf("slow", (_, count) =>
        Effect.suspend((): Effect.Effect<ReadonlyArray<unknown>, SqlError> => {
          if (count > 300) return tooLong
          const removed = Math.min(left, count)
          left -= removed
          return Effect.succeed(rows(removed))
        }))
      const { failures, removed } = yield* sweptAll([slow])
      assert.deepStrictEqual(failures, [])
      assert.strictEqual(removed, 1_000)
    }))

  it.effect("F76: a sweep removes more than 100 batches of one kind, and other kinds have their turns", () =>
    Effect.gen(function*() {
      let left = 150 * sweptRowsMax
      let before: number | undefined
      const many = kindOf("many", (_, count) =>
        Effect.sync(() => {
          const removed = Math.min(left, count)
          left -= removed
          return rows(removed)
        }))
      const few = kindOf("few", () =>
        Effect.sync(() => {
          before ??= left
          return []
        }))
      const { removed } = yield* sweptAll([many, few])
      assert.strictEqual(removed, 150 * sweptRowsMax)
      assert.strictEqual(before, 149 * sweptRowsMax)
    }))
})
