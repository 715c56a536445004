import { assert, layer } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { claimMillis, Deliveries } from "../../../src/services/federation/outbox/Deliveries.ts"
import { host, layerRounds, Outside, receiver, send, sender, waiting } from "./Rounds.ts"

const fresh = Layer.fresh(layerRounds)
/** Returns the arrivals at an inbox, without repeats. */
const firsts = (outside: Outside["Service"]) => [...new Set(outside.arrived.map(({ uri }) => uri))]

layer(fresh)("I6: deliveries about one object reach an inbox in order", (it) => {
  it.effect("keep their order even if the first one fails or later ones overtake it", () =>
    Effect.gen(function*() {
      const outside = yield* Outside
      const [from, to] = [yield* sender, yield* receiver("order.test")]
      const { drain } = yield* host("order.test")
      let failing = true
      outside.says = ({ uri }) => failing && uri === "create" ? 500 : 202
      yield* send(from, to, "create", { about: 77n })
      yield* send(from, to, "update", { about: 77n })
      yield* send(from, to, "other", { about: 78n })
      yield* drain
      yield* send(from, to, "delete", { about: 77n })
      yield* drain
      assert.sameMembers(outside.arrived.map(({ uri }) => uri), ["create", "other"])
      // Later deliveries are not due before the failed one.
      const seconds = (yield* waiting).map((row) => Math.round(row.seconds))
      assert.lengthOf(seconds, 3)
      assert.strictEqual(new Set(seconds).size, 1)
      failing = false
      yield* TestClock.adjust("1 minute")
      yield* drain
      assert.deepStrictEqual(outside.arrived.slice(2).map(({ uri }) => uri), ["create", "update", "delete"])
      assert.isEmpty(yield* waiting)
    }))

  it.effect("an inbox does not wait for another inbox of its host", () =>
    Effect.gen(function*() {
      const outside = yield* Outside
      outside.arrived.length = 0
      const [from, bad, good] = [
        yield* sender,
        yield* receiver("two.test", "/bad"),
        yield* receiver("two.test", "/good")
      ]
      const { drain } = yield* host("two.test")
      outside.says = ({ url }) => url.endsWith("/bad") ? 500 : 202
      for (const to of [bad, good]) {
        yield* send(from, to, `create ${to}`, { about: 90n })
        yield* send(from, to, `update ${to}`, { about: 90n })
      }
      yield* drain
      assert.sameMembers(outside.arrived.map(({ uri }) => uri), [`create ${bad}`, `create ${good}`, `update ${good}`])
    }))
})

layer(fresh)("I5, F2: a crash", (it) => {
  it.effect("a crash between the response and the record repeats deliveries in flight and loses none", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const [outside, deliveries] = [yield* Outside, yield* Deliveries]
      const [from, to] = [yield* sender, yield* receiver("crash.test")]
      for (let count = 0; count < 40; count++) yield* send(from, to, `${count}`)
      // The crash prevents the record: the round ends as if the process had died there.
      yield* sql`CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'gone'; END $$`
      yield* sql`CREATE TRIGGER refuse BEFORE DELETE ON deliveries EXECUTE FUNCTION refuse()`
      const { round } = yield* host("crash.test")
      yield* round
      const sent = outside.arrived.length
      assert.isAbove(sent, 0)
      assert.isBelow(sent, 20)
      yield* sql`DROP TRIGGER refuse ON deliveries`
      // Another owner skips deliveries that may still be in flight, and takes them when their claims have expired.
      const { drain } = yield* host("crash.test")
      yield* drain
      assert.lengthOf(outside.arrived, 40)
      assert.lengthOf((yield* deliveries.due(0, 10)).hosts, 0)
      yield* TestClock.adjust(claimMillis)
      yield* drain
      assert.lengthOf(firsts(outside), 40)
      assert.lengthOf(outside.arrived, 40 + sent)
      assert.isEmpty(yield* waiting)
    }))

  it.effect("a graceful end records accepted deliveries, and another owner continues at once", () =>
    Effect.gen(function*() {
      const outside = yield* Outside
      outside.arrived.length = 0
      const [from, to] = [yield* sender, yield* receiver("stop.test")]
      for (let count = 0; count < 12; count++) yield* send(from, to, `${count}`)
      const third = yield* Deferred.make<void>()
      outside.says = (_, before) => before < 2 ? 202 : Effect.andThen(Deferred.succeed(third, undefined), Effect.never)
      const { drain } = yield* host("stop.test")
      const running = yield* Effect.forkChild(drain)
      yield* Deferred.await(third)
      yield* Fiber.interrupt(running)
      outside.says = () => 202
      const left = yield* waiting
      assert.lengthOf(left, 10)
      assert.isTrue(left.every(({ seconds }) => seconds <= 0))
      const next = yield* host("stop.test")
      yield* next.drain
      assert.isEmpty(yield* waiting)
      assert.lengthOf(firsts(outside), 12)
      assert.isAtMost(outside.arrived.length, 14)
    }))
})
