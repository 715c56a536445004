import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { figureCache } from "../../../src/services/metrics/KeptFigures.ts"

it.effect("F76: figures of a bounded number of requests are kept, whatever their names are", () =>
  Effect.gen(function*() {
    const kept = figureCache<number>()
    let counted = 0
    const figure = (name: string) => kept(name, Effect.sync(() => ++counted))
    const names = Array.from({ length: 500 }, (_, at) => `${at}${"x".repeat(10_000)}`)
    for (const name of names) yield* figure(name)
    assert.strictEqual(yield* figure(names[0] ?? ""), 1)
    yield* figure("one more")
    assert.strictEqual(counted, 501)
    yield* Effect.forEach(names, figure, { discard: true })
    assert.isAbove(counted, 501)
  }))
