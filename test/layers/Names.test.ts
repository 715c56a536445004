import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { Names } from "../../src/layers/outbound/Names.ts"

const failing = (code: string) => () => Promise.reject(Object.assign(new Error(code), { code }))

describe("names of hosts", () => {
  it.effect("F20: names that resolve slowly occupy one thread at most, and none if the name servers do not respond", () => {
    const began: Array<string> = []
    const ends: Array<() => void> = []
    const systemResolver = (name: string) =>
      new Promise<ReadonlyArray<string>>((resolve) => {
        began.push(name)
        ends.push(() => resolve([`of ${name}`]))
      })
    const turn = Effect.promise(() => new Promise((resolve) => setImmediate(resolve)))
    return Effect.gen(function*() {
      const asked = yield* Effect.forEach(
        ["a.test", "b.test", "c.test", "d.test"],
        (name) => Effect.forkChild(Names.use(({ resolve }) => resolve(name)))
      )
      yield* turn
      assert.deepStrictEqual(began, ["a.test"])
      // A caller that gives up leaves its thread occupied.
      yield* Effect.forkChild(Fiber.interrupt(asked[0]!))
      yield* Effect.forkChild(Fiber.interrupt(asked[1]!))
      yield* turn
      assert.deepStrictEqual(began, ["a.test"])
      ends[0]?.()
      yield* turn
      assert.deepStrictEqual(began, ["a.test", "c.test"])
      ends[1]?.()
      assert.deepStrictEqual(yield* Fiber.join(asked[2]!), ["of c.test"])
      yield* turn
      ends[2]?.()
      assert.deepStrictEqual(yield* Fiber.join(asked[3]!), ["of d.test"])
    }).pipe(
      Effect.provide(Names.layerWith({ servers: failing("ENOTFOUND"), systemResolver })),
      Effect.andThen(
        Effect.gen(function*() {
          assert.deepStrictEqual(yield* Names.use(({ resolve }) => resolve("silent.test")), [])
          assert.lengthOf(began, 3)
        }).pipe(Effect.provide(Names.layerWith({ servers: failing("ETIMEOUT"), systemResolver })))
      )
    )
  })
})
