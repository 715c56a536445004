import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer } from "effect"
import { HttpServerResponse } from "effect/http"
import { TestClock } from "effect/testing"
import { arrivalMillisMax, BodyReading, bounds } from "../../../src/http/body/BodyReading.ts"
import { Caller } from "../../../src/http/guard/Caller.ts"
import { InFlight } from "../../../src/http/guard/InFlight.ts"
import { AccountId } from "../../../src/services/database/Ids.ts"
import { from } from "../guard/From.ts"

/** Returns the status with which a body is refused, or its content. */
const outcome = <A, E, R>(arriving: Effect.Effect<A, E, R>) =>
  Effect.catch(
    arriving,
    (refusal) => HttpServerResponse.isHttpServerResponse(refusal) ? Effect.succeed(refusal.status) : Effect.die(refusal)
  )

const provided = Effect.provide(Layer.fresh(BodyReading.layer))

describe("arriving bodies", () => {
  it.effect("F16: a body that does not arrive is given up after 20 seconds, and takes no slot in the meantime", () =>
    Effect.gen(function*() {
      const bodyReading = yield* BodyReading
      let inWork = 1
      const inFlight: InFlight = {
        withoutSlot: (effect) => Effect.suspend(() => (inWork--, Effect.ensuring(effect, Effect.sync(() => inWork++))))
      }
      const waiting = yield* Effect.forkChild(
        outcome(bodyReading.read(100, Effect.never)).pipe(Effect.provideService(InFlight, inFlight)),
        { startImmediately: true }
      )
      assert.strictEqual(inWork, 0)
      yield* TestClock.adjust(arrivalMillisMax - 1_000)
      assert.isUndefined(waiting.pollUnsafe())
      yield* TestClock.adjust("2 seconds")
      assert.strictEqual(yield* Fiber.join(waiting), 408)
      assert.strictEqual(inWork, 1)
      assert.strictEqual(yield* bodyReading.read(100, Effect.succeed("body")), "body")
    }).pipe(from("192.0.2.1"), provided))

  it.effect("F16: the slots are bounded, in total and for each address", () =>
    Effect.gen(function*() {
      const bodyReading = yield* BodyReading
      const gate = yield* Deferred.make<void>()
      const { atOnceMax, perAddressMax } = bounds.large
      const read = (address: string, bytes?: number) =>
        outcome(bodyReading.read(bytes, Deferred.await(gate))).pipe(from(address))
      const start = (address: string, count: number, bytes?: number) =>
        Effect.forEach(Array.from({ length: count }), () =>
          Effect.forkChild(read(address, bytes), { startImmediately: true }))
      const first = yield* start("192.0.2.1", perAddressMax)
      assert.strictEqual(yield* read("192.0.2.1"), 503)
      assert.strictEqual(yield* read("192.0.2.1", 1_000_000), 503)
      // Small bodies have slots of their own.
      yield* start("192.0.2.1", 1, 1_000)
      for (let n = 1; n < atOnceMax / perAddressMax; n++) {
        yield* start(`2001:db8:0:${n}::1`, perAddressMax)
      }
      assert.strictEqual(yield* read("192.0.2.9"), 503)
      yield* Deferred.succeed(gate, undefined)
      yield* Effect.forEach(first, Fiber.join)
      assert.isUndefined(yield* read("192.0.2.1"))
    }).pipe(provided))

  it.effect("F16: files count per account: an uploader behind a shared address has their own share", () =>
    Effect.gen(function*() {
      const bodyReading = yield* BodyReading
      const upload = <A>(account: bigint | undefined, file: Effect.Effect<A>) =>
        outcome(bodyReading.readFiles(file)).pipe(
          Effect.provideService(Caller, {
            viewer: account === undefined ? undefined : AccountId.make(account),
            tokenId: undefined,
            appId: undefined,
            scopes: new Set<string>(),
            locale: undefined,
            address: "192.0.2.1"
          }),
          from("192.0.2.1")
        )
      for (let n = 0; n < bounds.files.perAddressMax; n++) {
        yield* Effect.forkChild(upload(1n, Effect.never), { startImmediately: true })
        yield* Effect.forkChild(upload(undefined, Effect.never), { startImmediately: true })
      }
      assert.strictEqual(yield* upload(1n, Effect.void), 503)
      assert.strictEqual(yield* upload(undefined, Effect.void), 503)
      assert.isUndefined(yield* upload(2n, Effect.void))
    }).pipe(provided))
})
