import { assert, layer } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer } from "effect"
import { ShardId, Sharding } from "effect/cluster"
import { PrometheusMetrics } from "effect/observability"
import { TestClock } from "effect/testing"
import { InboundActivities } from "../../../src/services/federation/inbox/InboundActivities.ts"
import { Deliveries } from "../../../src/services/federation/outbox/Deliveries.ts"
import { Instance } from "../../../src/services/instance/Instance.ts"
import { AgendaEntries } from "../../../src/services/intents/AgendaEntries.ts"
import { Backlogs } from "../../../src/services/metrics/Backlogs.ts"
import { ServerFigures } from "../../../src/services/metrics/ServerFigures.ts"
import { eventually } from "../../support/Eventually.ts"
import { whileOneWaits } from "../../support/LockWaits.ts"
import { TestDatabase } from "../../support/TestDatabase.ts"

type Part = "people" | "work" | "nothing"

/** Makes the gauges of a server on which one part never completes; `reached` completes when only that part is left. */
const figures = (endless: Part, reached: Deferred.Deferred<void>) => {
  const note = Deferred.succeed(reached, undefined)
  return ServerFigures.layer.pipe(Layer.provide([
    Layer.mock(AgendaEntries, { failed: Effect.as(note, 0) }),
    Layer.mock(Backlogs, { list: Effect.succeed([]) }),
    Layer.mock(Deliveries, {
      backlog: endless === "work"
        ? Effect.andThen(note, Effect.never)
        : Effect.succeed({ count: 0, oldestMillis: 0 })
    }),
    Layer.mock(InboundActivities, { backlog: Effect.succeed({ waiting: 0, oldestMillis: 0, dead: 0 }) }),
    Layer.mock(Instance, {
      usage: endless === "people"
        ? Effect.never
        : Effect.succeed({ users: 1, activeMonth: 1, activeHalfYear: 1, statuses: 1, domains: 1 })
    }),
    Layer.mock(Sharding.Sharding, {
      activeEntityCount: Effect.succeed(0),
      getShardId: () => ShardId.make("default", 1),
      hasShardId: () => true
    })
  ]))
}

layer(TestDatabase.layer, { excludeTestServices: true })("figures of a large server", (it) => {
  for (const endless of ["people", "work"] as const) {
    it.effect(`F266: a count of ${endless} that takes too long does not report Postgres as down`, () =>
      Effect.gen(function*() {
        const reached = yield* Deferred.make<void>()
        yield* Effect.gen(function*() {
          const scrape = yield* Effect.forkChild((yield* ServerFigures).update)
          yield* Deferred.await(reached)
          while (scrape.pollUnsafe() === undefined) yield* TestClock.adjust("1 second")
          yield* Fiber.join(scrape)
          assert.match(yield* PrometheusMetrics.format(), /^murmuration_postgres_up 1$/m)
        }).pipe(Effect.provide(Layer.fresh(figures(endless, reached))), Effect.provide(TestClock.layer()))
      }))
  }

  it.effect("a statement that waits for a lock is counted as such, and as slow after a second", () =>
    Effect.gen(function*() {
      const reached = yield* Deferred.make<void>()
      const figuresOf = (waits: number) => {
        const scrape = Effect.andThen(Effect.flatMap(ServerFigures, ({ update }) => update), PrometheusMetrics.format())
        return eventually(
          Effect.provide(scrape, Layer.fresh(figures("nothing", reached))),
          (text) => text.includes(`murmuration_postgres_slow_statements ${waits}\n`)
        )
      }
      yield* whileOneWaits(
        5,
        Effect.map(figuresOf(1), (text) => assert.match(text, /^murmuration_postgres_lock_waits 1$/m))
      )
      assert.match(yield* figuresOf(0), /^murmuration_postgres_lock_waits 0$/m)
    }))
})
