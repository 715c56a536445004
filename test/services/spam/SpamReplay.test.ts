import { assert, layer } from "@effect/vitest"
import { Clock, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { Broadcast } from "../../../src/services/events/Broadcast.ts"
import { SpamFacts } from "../../../src/services/spam/SpamFacts.ts"
import { SpamReplay } from "../../../src/services/spam/SpamReplay.ts"
import { person } from "../../support/People.ts"
import { TestDatabase } from "../../support/TestDatabase.ts"

const services = SpamFacts.layer.pipe(Layer.provideMerge(Layer.merge(TestDatabase.layer, Broadcast.layerMemory)))

/** Makes a node whose replay calls `before` once, in the middle of its first slice. */
const node = Effect.fnUntraced(function*(before: Effect.Effect<unknown>) {
  const facts = yield* SpamFacts
  let isFirst = true
  const slow = SpamFacts.of({
    of: (posts, asked) => {
      const rest = facts.of(posts, asked)
      if (!isFirst) return rest
      isFirst = false
      return Effect.andThen(before, rest)
    }
  })
  return yield* Effect.provide(
    SpamReplay,
    Layer.fresh(SpamReplay.layerNoDeps).pipe(Layer.provide(Layer.succeed(SpamFacts, slow)))
  )
})

const rule = Effect.fnUntraced(function*(id: bigint, name: string) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`INSERT INTO spam_rules (id, place, name, state, action, score, conditions, created_at, updated_at)
    VALUES (${id}, 1, ${name}, 'off', 'report', 0, ${JSON.stringify({ textWords: ["buy"] })}::jsonb, ${new Date(0)},
      ${new Date(0)})`
})

layer(services)("dry runs on several nodes", (it) => {
  it.effect("F123: a node with an expired lease neither overwrites the results of another one nor restarts the run", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      yield* TestClock.adjust("2 minutes")
      const now = yield* Clock.currentTimeMillis
      const author = yield* person("anna")
      yield* sql`INSERT INTO statuses (id, account_id, text, html, spoiler_text, visibility, conversation_id, created_at)
        VALUES (next_id(${now - 60_000}), ${author}, 'buy', '<p>buy</p>', '', 'public', 1, ${new Date(now - 60_000)})`
      yield* rule(1n, "first")
      yield* sql`INSERT INTO spam_runs (id, account_id, days, state, statuses, results, due_at, tries, created_at)
        VALUES (1, ${author}, 1, 'waiting', 0, '[]', ${new Date(now)}, 0, ${new Date(now)})`
      const { step } = yield* node(Effect.void)
      // The first node is frozen until its lease has expired; another one executes the run, with an additional rule.
      const stalled = yield* node(
        Effect.orDie(Effect.all([TestClock.adjust("61 seconds"), rule(2n, "second"), step])).pipe(
          Effect.provideService(SqlClient.SqlClient, sql)
        )
      )
      yield* stalled.step
      const [run] = yield* sql<{ state: string; statuses: number; tries: number; rules: number; finished: Date }>`
        SELECT state, statuses, tries, jsonb_array_length(results) AS rules, finished_at AS finished FROM spam_runs`
      assert.deepStrictEqual(run, {
        state: "done",
        statuses: 1,
        tries: 2,
        rules: 2,
        finished: new Date(now + 61_000)
      })
    }))
})
