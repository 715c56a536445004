import { assert, layer } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { DomainScores } from "../../../src/services/spam/DomainScores.ts"
import { TestDatabase } from "../../support/TestDatabase.ts"

const week = 7 * 86_400_000

layer(DomainScores.layer.pipe(Layer.provideMerge(TestDatabase.layer)))("scores of servers", (it) => {
  it.effect("are the sum of changes, half of it after a week, folded or not, by any number of concurrent nodes", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const scores = yield* DomainScores
      const begun = Date.UTC(2026, 10, 1)
      const at = (domain: string, millis: number) =>
        Effect.map(
          sql<{ score: number }>`SELECT ${
            sql.literal(scores.scoreSql("q.domain", "q.at"))
          } AS score FROM (SELECT ${domain}::text AS domain, ${new Date(millis)}::timestamptz AS at) q`,
          ([row]) => row?.score ?? Number.NaN
        )
      yield* scores.add("far.example", 8, new Date(begun))
      yield* scores.add("far.example", 4, new Date(begun + week))
      yield* scores.add("near.example", 1, new Date(begun))
      const expected = Effect.gen(function*() {
        assert.approximately(yield* at("far.example", begun + week), 8, 0.000_1)
        assert.approximately(yield* at("far.example", begun + 2 * week), 4, 0.000_1)
        assert.approximately(yield* at("near.example", begun), 1, 0.000_1)
        assert.strictEqual(yield* at("other.example", begun), 0)
      })
      yield* expected
      yield* Effect.all([scores.fold, scores.fold], { concurrency: "unbounded" })
      assert.deepStrictEqual(yield* sql`SELECT FROM spam_score_changes`, [])
      yield* expected
      // A change with an earlier date counts with its decayed value.
      yield* scores.add("far.example", 16, new Date(begun))
      assert.approximately(yield* at("far.example", begun + week), 16, 0.000_1)
      yield* scores.fold
      yield* scores.fold
      assert.approximately(yield* at("far.example", begun + week), 16, 0.000_1)
    }))

  it.effect("posts do not wait for each other: two uncommitted ones add points to the same server", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const scores = yield* DomainScores
      const give = (n: number) => scores.add("busy.example", n, new Date(Date.UTC(2026, 10, 1)))
      yield* sql.withTransaction(Effect.andThen(
        give(1),
        // On another connection, which a lock of the first one would block.
        sql.withTransaction(give(2)).pipe(
          Effect.updateContext((context: Context.Context<never>) => Context.omit(sql.transactionService)(context))
        )
      ))
      yield* scores.fold
      const folded = yield* sql<{ score: number }>`SELECT score FROM spam_domain_scores WHERE domain = 'busy.example'`
      assert.approximately(folded[0]?.score ?? 0, 3, 0.000_1)
    }))
})
