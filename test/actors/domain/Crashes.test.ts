import { assert, layer } from "@effect/vitest"
import { Effect, Exit, Fiber, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { claimMillis, Deliveries } from "../../../src/services/federation/outbox/Deliveries.ts"
import { Signatures } from "../../../src/services/federation/signatures/Signatures.ts"
import { Outbound } from "../../../src/services/outbound/Outbound.ts"
import { host, layerRounds, Outside, receiver, send, sender, waiting } from "./Rounds.ts"

/** Steps of an owner for a delivery, in order; the owner can end before or after each. */
const steps = ["claim", "sign", "send", "complete"] as const
type Point = `${"before" | "after"} ${(typeof steps)[number]}`
const points = steps.flatMap((step): ReadonlyArray<Point> => [`before ${step}`, `after ${step}`])

/** Way in which an owner ends: as by `kill -9`, with a defect, or by a normal stop. */
type End = "killed" | "defect" | "interrupted"
const ends: ReadonlyArray<End> = ["killed", "defect", "interrupted"]

/** The owner ends when it reaches the point for the n-th time. */
const endsAtTime = 2

/** Makes an owner of the host that crashes at one call of a service, and does nothing afterwards. */
const doomed = Effect.fnUntraced(function*(name: string, at: Point, end: End) {
  const [deliveries, outbound, outside, signatures] = [
    yield* Deliveries,
    yield* Outbound,
    yield* Outside,
    yield* Signatures
  ]
  const recorded = new Set<bigint>()
  let times = 0
  let over: (() => void) | undefined
  const ended = new Promise<void>((resolve) => over = resolve)
  let isOver = false
  const pass = (side: "before" | "after", step: (typeof steps)[number]): Effect.Effect<void> =>
    Effect.suspend(() => {
      const point = `${side} ${step}` as const
      if (isOver && end === "killed") return Effect.never
      if (isOver || point !== at || ++times < endsAtTime) return Effect.void
      isOver = true
      over?.()
      if (end === "defect") return Effect.die(new Error(point))
      // When an owner is interrupted, database reads and writes in flight complete.
      return end === "interrupted" && (step === "complete" || step === "claim") ? Effect.void : Effect.never
    })
  const within = <A, E, R>(step: (typeof steps)[number], effect: Effect.Effect<A, E, R>) =>
    pass("before", step).pipe(Effect.andThen(effect), Effect.tap(() => pass("after", step)))

  const { drain } = yield* host(name).pipe(
    Effect.provideService(
      Deliveries,
      Deliveries.of({
        ...deliveries,
        claim: (wanted) => within("claim", deliveries.claim(wanted)),
        complete: (done) =>
          done.length === 0
            ? Effect.void
            : within(
              "complete",
              Effect.tap(deliveries.complete(done), () =>
                Effect.sync(() => {
                  for (const { activityId } of done) recorded.add(activityId)
                }))
            )
      })
    ),
    Effect.provideService(
      Signatures,
      Signatures.of({
        ...signatures,
        sign: (scheme, key, request) => within("sign", signatures.sign(scheme, key, request))
      })
    ),
    Effect.provideService(
      Outbound,
      Outbound.of({
        ...outbound,
        post: (posting) => within("send", outbound.post(posting))
      })
    )
  )
  // A killed fiber never ends, so it is not joined.
  const running = yield* Effect.forkDetach(Effect.exit(drain))
  yield* Effect.promise(() => ended)
  const sent = outside.arrived.map(({ uri }) => uri)
  if (end === "interrupted") yield* Fiber.interrupt(running)
  if (end === "defect") yield* Fiber.await(running)
  return { sent, recorded: recorded.size }
})

const world = Effect.gen(function*() {
  const outside = yield* Outside
  outside.arrived.length = 0
  const [from, to] = [yield* sender, yield* receiver("crash.test")]
  const told: Array<string> = []
  for (const what of ["create", "update"]) {
    for (let about = 1n; about <= 6n; about++) {
      told.push(`${what} ${about}`)
      yield* send(from, to, `${what} ${about}`, { about: about + 1_000n * to })
    }
  }
  return { outside, told }
})

layer(Layer.fresh(layerRounds))("I5: an owner ends while it records deliveries", (it) => {
  it.effect("no delivery leaves within the transaction; all leave after it, even without a wake-up", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const [deliveries, outside] = [yield* Deliveries, yield* Outside]
      const [from, to, other] = [yield* sender, yield* receiver("a.test"), yield* receiver("b.test")]
      const written = Effect.all([send(from, to, "create", { about: 1n }), send(from, other, "create", { about: 1n })])
      const aborted = yield* Effect.exit(
        sql.withTransaction(Effect.andThen(written, Effect.die(new Error("it ended here"))))
      )
      assert.isTrue(Exit.isFailure(aborted))
      assert.isEmpty(yield* waiting)
      assert.isEmpty(yield* sql`SELECT id FROM outgoing_activities`)
      assert.isEmpty((yield* deliveries.due(0, 100)).hosts)

      yield* sql.withTransaction(written)
      const due = (yield* deliveries.due(0, 100)).hosts
      assert.sameMembers([...due], ["a.test", "b.test"])
      for (const name of due) yield* (yield* host(name)).drain
      assert.lengthOf(outside.arrived, 2)
      assert.isEmpty(yield* waiting)
    }))
})

layer(Layer.fresh(layerRounds))("I5, I6, F2: an owner ends at any step of a delivery", (it) => {
  for (const point of points) {
    for (const end of ends) {
      it.effect(`${end} ${point}: the next owner delivers everything in order, twice only deliveries that were sent and not recorded`, () =>
        Effect.gen(function*() {
          const { outside, told } = yield* world
          const { recorded, sent } = yield* doomed("crash.test", point, end)
          const left = yield* waiting
          if (end === "killed") assert.lengthOf(left, told.length - recorded)
          const { drain } = yield* host("crash.test")
          yield* drain
          yield* TestClock.adjust(claimMillis)
          yield* drain
          assert.isEmpty(yield* waiting)
          const arrived = outside.arrived.map(({ uri }) => uri)
          const firsts = [...new Set(arrived)]
          assert.sameMembers(firsts, told)
          for (let about = 1; about <= 6; about++) {
            assert.isBelow(firsts.indexOf(`create ${about}`), firsts.indexOf(`update ${about}`))
          }
          const twice = told.filter((uri) => arrived.filter((other) => other === uri).length > 1)
          const mayBeTwice = sent.filter((uri) => left.some((row) => row.uri === uri))
          if (end === "killed") assert.sameMembers(twice, mayBeTwice)
          else assert.includeMembers(mayBeTwice, twice)
          // A delivery that was not sent, or was recorded, arrives once.
          if (point === "before claim" || point === "after complete") assert.isEmpty(twice)
          if (end === "killed" && (point === "after send" || point === "before complete")) assert.isNotEmpty(twice)
          assert.isAtMost(Math.max(...told.map((uri) => arrived.filter((other) => other === uri).length)), 2)
        }))
    }
  }
})
