import { assert, it } from "@effect/vitest"
import { Effect, Metric } from "effect"
import { PrometheusMetrics } from "effect/observability"
import * as InboundOutcomes from "../../../../src/services/federation/inbox/InboundOutcomes.ts"

it.effect("F43: outcomes of activities are counted by their texts, up to a maximum of distinct ones", () =>
  Effect.gen(function*() {
    const told = InboundOutcomes.make()
    for (let n = 0; n < 3; n++) yield* told(1n, "ignored: an unknown post")
    yield* told(2n, "done; changed: a block between its sender and an account that it references")
    yield* told(3n, `ignored: ${"long ".repeat(1_000)}`)
    for (let n = 0; n < InboundOutcomes.outcomesMax * 2; n++) yield* told(4n, `ignored: number ${n}`)
    const lines = (yield* PrometheusMetrics.format()).split("\n").filter((line) =>
      line.startsWith("murmuration_inbound_outcomes_total{")
    )
    const countOf = (outcome: string) => lines.find((line) => line.includes(`outcome="${outcome}"`))?.split(" ").at(-1)
    assert.strictEqual(countOf("ignored: an unknown post"), "3")
    assert.strictEqual(countOf("done"), "1")
    assert.strictEqual(lines.length, InboundOutcomes.outcomesMax + 1)
    assert.strictEqual(countOf("other"), String(InboundOutcomes.outcomesMax + 3))
    assert.isTrue(lines.every((line) => line.length < 200))
  }).pipe(Effect.provideService(Metric.MetricRegistry, new Map())))
