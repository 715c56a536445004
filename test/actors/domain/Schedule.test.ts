import { assert, describe, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { failuresMax } from "../../../src/actors/domain/HostState.ts"
import { Deliveries } from "../../../src/services/federation/outbox/Deliveries.ts"
import { DeliveryHosts, failedDaysMax } from "../../../src/services/federation/outbox/DeliveryHosts.ts"
import { deliveryBackoff } from "../../../src/services/federation/outbox/Retries.ts"
import { host, layerRounds, Outside, receiver, send, sender, waiting } from "./Rounds.ts"

const fresh = Layer.fresh(layerRounds)
const hour = 3_600

describe("F12: a host's response decides the next step", () => {
  layer(fresh)((it) => {
    it.effect("a failing host is retried 16 times within 49 to 75 hours, with growing delays, and then no more", () =>
      Effect.gen(function*() {
        const outside = yield* Outside
        outside.says = () => 500
        const [from, to] = [yield* sender, yield* receiver("slow.test")]
        const { drain } = yield* host("slow.test")
        yield* send(from, to, "one")
        const began = yield* Effect.clockWith((clock) => clock.currentTimeMillis)
        for (let rounds = 0; (yield* waiting).length > 0; rounds++) {
          assert.isBelow(rounds, 100)
          yield* drain
          const [row] = yield* waiting
          if (row !== undefined) yield* TestClock.adjust(`${Math.ceil(row.seconds)} seconds`)
        }
        assert.lengthOf(outside.arrived, deliveryBackoff.triesMax)
        const seconds = ((outside.arrived.at(-1)?.at ?? 0) - began) / 1_000
        assert.isAbove(seconds, 49 * hour)
        assert.isBelow(seconds, 76 * hour)
        // After the n-th failure, from 0: n^4 + 15 seconds, plus up to half of n^4.
        outside.arrived.slice(1).forEach(({ at }, n) => {
          const gap = (at - outside.arrived[n]!.at) / 1_000
          assert.isAtLeast(gap, n ** 4 + 15)
          assert.isAtMost(gap, 1.5 * n ** 4 + 16)
        })
      }))
  })

  layer(fresh)((it) => {
    it.effect("4xx is final except for 401, 408 and 429, as is 501; 410 disables the inbox", () =>
      Effect.gen(function*() {
        const outside = yield* Outside
        const sql = yield* SqlClient.SqlClient
        const [from, to] = [yield* sender, yield* receiver("picky.test")]
        const { drain } = yield* host("picky.test")
        const after = Effect.fnUntraced(function*(status: number) {
          outside.says = () => status
          yield* sql`DELETE FROM deliveries`
          yield* send(from, to, `answer ${status}`)
          yield* drain
          return (yield* waiting).length
        })
        for (const final of [400, 403, 404, 405, 413, 422, 501]) assert.strictEqual(yield* after(final), 0, `${final}`)
        for (const later of [302, 401, 408, 429, 500, 502, 503]) assert.strictEqual(yield* after(later), 1, `${later}`)
        yield* TestClock.adjust("10 minutes")
        assert.strictEqual(yield* after(410), 0)
        outside.says = () => 202
        const before = outside.arrived.length
        yield* send(from, to, "too late")
        assert.isEmpty(yield* waiting)
        yield* drain
        assert.lengthOf(outside.arrived, before)
        const [inbox] =
          yield* sql`SELECT refusal, refused_about IS NOT NULL AS about FROM inboxes WHERE gone_at IS NOT NULL`
        assert.deepStrictEqual(inbox, { refusal: "410", about: true })
      }))
  })

  layer(fresh)((it) => {
    it.effect("an inbox that returned 410 gets deliveries again: a day later when its host sends, after a success, or on request", () =>
      Effect.gen(function*() {
        const outside = yield* Outside
        const deliveryHosts = yield* DeliveryHosts
        const [from, to] = [yield* sender, yield* receiver("mistaken.test")]
        const { drain } = yield* host("mistaken.test")
        const saysGone = Effect.gen(function*() {
          outside.says = () => 410
          yield* send(from, to, "gone", { type: "Follow" })
          yield* drain
          outside.says = () => 202
          yield* send(from, to, "unsent")
          assert.isEmpty(yield* waiting)
        })
        const isSentTo = Effect.gen(function*() {
          yield* send(from, to, "sent")
          assert.lengthOf(yield* waiting, 1)
          yield* drain
        })
        yield* saysGone
        yield* TestClock.adjust("23 hours")
        yield* deliveryHosts.recordContact("mistaken.test")
        yield* send(from, to, "too early")
        assert.isEmpty(yield* waiting)
        yield* TestClock.adjust("2 hours")
        yield* deliveryHosts.recordContact("mistaken.test")
        yield* isSentTo
        yield* saysGone
        assert.isTrue(yield* deliveryHosts.resume("mistaken.test"))
        yield* isSentTo
        yield* saysGone
        yield* send(from, to, "are you there?", { type: "Follow" })
        yield* drain
        yield* isSentTo
      }))
  })

  layer(fresh)((it) => {
    it.effect("Retry-After applies to everything that waits for the host", () =>
      Effect.gen(function*() {
        const outside = yield* Outside
        const [from, to] = [yield* sender, yield* receiver("busy.test")]
        const { drain, line: state } = yield* host("busy.test")
        state.width = 1
        outside.says = () => ({ status: 429, retryAfterSeconds: 1_200 })
        for (const name of ["one", "two", "three"]) yield* send(from, to, name)
        yield* drain
        assert.lengthOf(outside.arrived, 1)
        yield* TestClock.adjust("19 minutes")
        yield* send(from, to, "four")
        yield* drain
        assert.lengthOf(outside.arrived, 1)
        outside.says = () => 202
        yield* TestClock.adjust("1 minute")
        yield* drain
        assert.sameMembers(outside.arrived.slice(1).map(({ uri }) => uri), ["one", "two", "three", "four"])
        assert.isEmpty(yield* waiting)
      }))
  })

  layer(fresh)((it) => {
    it.effect("401 is retried with the other signature scheme, and the accepted scheme is remembered", () =>
      Effect.gen(function*() {
        const outside = yield* Outside
        outside.says = ({ standard }) => standard ? 202 : 401
        const [from, to] = [yield* sender, yield* receiver("modern.test")]
        const { drain } = yield* host("modern.test")
        yield* send(from, to, "one")
        yield* drain
        yield* send(from, to, "two")
        yield* drain
        assert.deepStrictEqual(outside.arrived.map(({ standard, uri }) => [uri, standard]), [
          ["one", false],
          ["one", true],
          ["two", true]
        ])
        // Refused in both signature schemes: retried later, once in each scheme per attempt.
        outside.says = () => 401
        yield* send(from, to, "three")
        yield* drain
        assert.deepStrictEqual(outside.arrived.slice(3).map(({ standard }) => standard), [true, false])
        assert.deepStrictEqual((yield* waiting).map(({ tries, uri }) => [uri, tries]), [["three", 1]])
      }))
  })
})

describe("a host that is down", () => {
  layer(fresh)((it) => {
    it.effect("F11: after ten failures in a row it gets no requests for a minute, then one probe", () =>
      Effect.gen(function*() {
        const outside = yield* Outside
        outside.says = () => "unreachable"
        const [from, to] = [yield* sender, yield* receiver("dead.test")]
        const { drain } = yield* host("dead.test")
        for (let count = 0; count < 50; count++) yield* send(from, to, `number ${count}`)
        yield* drain
        assert.isAtMost(outside.arrived.length, failuresMax + 2)
        assert.lengthOf(yield* waiting, 50)
        const before = outside.arrived.length
        yield* TestClock.adjust("59 seconds")
        yield* drain
        assert.lengthOf(outside.arrived, before)
        yield* TestClock.adjust("1 second")
        yield* drain
        assert.lengthOf(outside.arrived, before + 1)
        outside.says = () => 202
        yield* TestClock.adjust("2 minutes")
        yield* drain
        assert.isEmpty(yield* waiting)
        const arrived = new Map(outside.arrived.slice(before + 1).map(({ uri }) => [uri, true]))
        assert.strictEqual(arrived.size, 50)
      }))
  })

  layer(fresh)((it) => {
    it.effect("after seven days it only gets tests of whether it is back; an incoming request or an accepted test resumes deliveries", () =>
      Effect.gen(function*() {
        const outside = yield* Outside
        const deliveryHosts = yield* DeliveryHosts
        outside.says = () => 503
        const [from, to] = [yield* sender, yield* receiver("gone.test")]
        const { drain, line: state } = yield* host("gone.test")
        for (let day = 0; day < failedDaysMax; day++) {
          yield* send(from, to, `day ${day}`)
          yield* drain
          yield* TestClock.adjust("1 day")
          state.failures = 0
        }
        assert.isEmpty(yield* waiting)
        yield* send(from, to, "nobody is there")
        assert.isEmpty(yield* waiting)
        yield* send(from, to, "are you there?", { type: "Follow" })
        outside.says = () => 202
        yield* drain
        assert.strictEqual(outside.arrived.at(-1)?.uri, "are you there?")
        yield* send(from, to, "it is back")
        yield* drain
        assert.strictEqual(outside.arrived.at(-1)?.uri, "it is back")
        for (let day = 0; day < failedDaysMax; day++) {
          yield* deliveryHosts.failed("gone.test", "503")
          yield* TestClock.adjust("1 day")
        }
        yield* send(from, to, "nobody again")
        assert.isEmpty(yield* waiting)
        yield* deliveryHosts.recordContact("gone.test")
        yield* send(from, to, "heard of")
        assert.lengthOf(yield* waiting, 1)
      }))
  })

  layer(fresh)((it) => {
    it.effect("the actor is woken when work is due, and expired work is dropped", () =>
      Effect.gen(function*() {
        const deliveries = yield* Deliveries
        const outside = yield* Outside
        outside.says = () => 500
        const [from, to, other] = [yield* sender, yield* receiver("a.test"), yield* receiver("b.test")]
        const { drain } = yield* host("a.test")
        yield* send(from, to, "fails")
        yield* send(from, other, "waits")
        yield* drain
        assert.deepStrictEqual((yield* deliveries.due(0, 100)).hosts, ["b.test"])
        yield* TestClock.adjust("1 minute")
        assert.deepStrictEqual((yield* deliveries.due(0, 100)).hosts, ["a.test", "b.test"])
        assert.strictEqual((yield* deliveries.backlog).count, 2)
        yield* TestClock.adjust("5 days")
        yield* deliveries.sweep(1_000)
        assert.strictEqual((yield* deliveries.backlog).count, 0)
        assert.isEmpty(yield* waiting)
      }))
  })
})
