import { assert, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { Broadcast } from "../../../src/services/events/Broadcast.ts"
import { BlockedAddresses } from "../../../src/services/moderation/BlockedAddresses.ts"

/** Simulates a database whose results are from the time of each query, and arrive when the test releases them. */
const slow = () => {
  const begun: Array<Deferred.Deferred<void>> = []
  const read = Effect.gen(function*() {
    const place = begun.length
    const response = yield* Deferred.make<void>()
    begun.push(response)
    // The initial query completes at once; the block is made between the second and the third.
    if (place > 0) yield* Deferred.await(response)
    return place < 2 ? [] : [{ network: "10.0.0.0/8", severity: "no_access", expiresAt: null }]
  })
  const sql: unknown = Object.assign(() => read, { literal: (text: string) => text })
  return { begun, sql: sql as SqlClient.SqlClient }
}

const turns = Effect.repeat(Effect.yieldNow, { times: 20 })

it.effect("S-174: a stale read of IP blocks does not overwrite a newer one, however late it ends", () => {
  const { begun, sql } = slow()
  const test = Effect.gen(function*() {
    const { find, refresh } = yield* BlockedAddresses
    const reads = [yield* Effect.forkChild(refresh), yield* Effect.forkChild(refresh)]
    yield* turns
    // Reads in progress end in the reverse order.
    for (const response of begun.slice(1).toReversed()) {
      yield* Deferred.succeed(response, undefined)
      yield* turns
    }
    for (const response of begun) yield* Deferred.succeed(response, undefined)
    yield* Effect.forEach(reads, Fiber.join)
    assert.strictEqual(begun.length, 3)
    assert.strictEqual(find("10.1.2.3", 0), "no_access")
  })
  return test.pipe(
    Effect.provide(BlockedAddresses.layer.pipe(
      Layer.provide([Layer.succeed(SqlClient.SqlClient, sql), Broadcast.layerMemory])
    ))
  )
})
