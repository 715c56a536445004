import { assert, layer } from "@effect/vitest"
import { Clock, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { Broadcast } from "../../../src/services/events/Broadcast.ts"
import { Polls } from "../../../src/services/statuses/Polls.ts"
import { person } from "../../support/People.ts"
import { TestDatabase } from "../../support/TestDatabase.ts"

const poll = { options: ["a", "b", "c"], seconds: 3_600, multiple: true, hideTotals: false }

layer(Polls.layer.pipe(Layer.provide(Broadcast.layerMemory), Layer.provideMerge(TestDatabase.layer)), {
  excludeTestServices: true
})("polls", (it) => {
  it.effect("F61: votes and their counts are written in one transaction, and concurrent ones are all counted", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const polls = yield* Polls
      const author = yield* person("author")
      const now = yield* Clock.currentTimeMillis
      yield* sql`INSERT INTO statuses (id, account_id, text, html, visibility, local, conversation_id, created_at)
        VALUES (1, ${author}, '', '', 'public', true, 1, ${new Date(now)})`
      yield* polls.create(1n, poll, now)
      const figures = Effect.map(
        sql<{ figures: ReadonlyArray<number> }>`SELECT counts || voters_count AS figures FROM polls`,
        ([row]) => row?.figures
      )
      const votes = Effect.map(
        sql<{ figures: ReadonlyArray<number> }>`SELECT ARRAY[count(*) FILTER (WHERE choice = 0),
          count(*) FILTER (WHERE choice = 1), count(*) FILTER (WHERE choice = 2), count(DISTINCT account_id)]::int[] AS figures
          FROM poll_votes`,
        ([row]) => row?.figures
      )
      const [first, ...others] = yield* Effect.forEach([..."abcdefgh"], (name) => person(`voter${name}`))
      const undone = sql.withTransaction(Effect.gen(function*() {
        yield* polls.vote(1n, author, first!, [0, 2])
        assert.deepStrictEqual([yield* figures, yield* votes], [[1, 0, 1, 1], [1, 0, 1, 1]])
        return yield* Effect.fail("its owner is another")
      }))
      assert.strictEqual(yield* Effect.flip(undone), "its owner is another")
      assert.deepStrictEqual([yield* figures, yield* votes], [[0, 0, 0, 0], [0, 0, 0, 0]])
      yield* Effect.forEach(others, (voter, n) => sql.withTransaction(polls.vote(1n, author, voter, [n % 3])), {
        concurrency: "unbounded"
      })
      assert.deepStrictEqual(yield* figures, yield* votes)
      assert.strictEqual((yield* figures)?.at(-1), others.length)
    }))
})
