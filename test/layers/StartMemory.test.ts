import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { getHeapSpaceStatistics } from "node:v8"
import * as StartMemory from "../../src/layers/StartMemory.ts"

const bytesOf = (name: string) => getHeapSpaceStatistics().find((space) => space.space_name === name)!.space_size

it.effect("heap growth of a start is released", () =>
  Effect.gen(function*() {
    // Long-lived objects grow the young generation, and leave holes in the old one.
    const retained: Array<Array<object>> = []
    for (let n = 0; n < 200; n++) retained.push(Array.from({ length: 10_000 }, (_, at) => ({ n, at })))
    const full = bytesOf("old_space")
    const young = bytesOf("new_space")
    retained.length = 0
    yield* StartMemory.shrinkHeap
    assert.isBelow(bytesOf("new_space"), young / 2)
    assert.isBelow(bytesOf("old_space"), full - 20 * 1024 * 1024)
    assert.isUndefined(globalThis.gc)
  }))
