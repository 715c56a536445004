import { assert, describe, it } from "@effect/vitest"
import { afterEach, beforeEach, vi } from "vitest"
import { gathered } from "../../../src/http/web/live/gather.client.ts"

describe("F316: requests that events cause", () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  it("share one run, never overlap, and cause one more after a run, however many they are; a failed run ends, too", async () => {
    let [begun, running, most] = [0, 0, 0]
    const ends: Array<{ readonly resolve: () => void; readonly reject: (error: Error) => void }> = []
    const call = gathered(() => {
      begun++
      most = Math.max(most, ++running)
      return new Promise<void>((resolve, reject) => ends.push({ resolve, reject })).finally(() => running--)
    })
    const callOften = () => {
      for (let times = 0; times < 1_000; times++) call()
    }
    callOften()
    assert.strictEqual(begun, 0)
    await vi.advanceTimersByTimeAsync(300)
    assert.strictEqual(begun, 1)
    callOften()
    await vi.advanceTimersByTimeAsync(60_000)
    assert.strictEqual(begun, 1, "the first is still running")
    ends[0]!.reject(new Error("no connection"))
    await vi.advanceTimersByTimeAsync(300)
    assert.strictEqual(begun, 2)
    ends[1]!.resolve()
    await vi.advanceTimersByTimeAsync(60_000)
    assert.deepStrictEqual([begun, most], [2, 1])
    call()
    await vi.advanceTimersByTimeAsync(300)
    assert.strictEqual(begun, 3)
  })
})
