import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import type { Socket } from "node:net"
import { connectSecondsMax } from "../../../src/layers/outbound/Connector.ts"
import { readSecondsMax } from "../../../src/services/outbound/Bodies.ts"
import { activity } from "../../../src/services/outbound/DocumentTypes.ts"
import { requestsPerHostMax, waitingPerHostMax } from "../../../src/services/outbound/HostSlots.ts"
import { documentSecondsMax, headSecondsMax, Outbound } from "../../../src/services/outbound/Outbound.ts"
import { getJson, host, outbound, rawHost, sendJson } from "./FarHosts.ts"

describe("row 25: private addresses", () => {
  const names: Record<string, ReadonlyArray<string>> = {
    "private.test": ["10.0.0.1"],
    "mixed.test": ["10.0.0.1", "127.0.0.1"],
    "metadata.test": ["169.254.169.254", "fd00:ec2::254"],
    "six.test": ["::1", "fe80::1", "::ffff:127.0.0.1"]
  }
  const world = outbound({ allow: [], names: (name) => names[name] ?? [] })
  const urls = [
    ...Object.keys(names).map((name) => `https://${name}/`),
    "https://127.0.0.1/",
    "https://[::1]/",
    "https://0x7f.1/",
    "https://[::ffff:a00:1]/"
  ]
  for (const url of urls) {
    it.effect(`are not requested: ${url}`, () =>
      Effect.gen(function*() {
        assert.deepInclude(yield* Effect.flip(getJson(url)), { _tag: "Refused", rule: "address" })
        const post = Outbound.use(({ post }) => post({ url, headers: {}, body: new Uint8Array() }))
        assert.deepInclude(yield* Effect.flip(post), { _tag: "Refused", rule: "address" })
        const stream = Outbound.use(({ stream }) => stream({ url, type: activity, bytesMax: 1, secondsMax: 1 }))
        assert.deepInclude(yield* Effect.flip(Effect.scoped(stream)), { _tag: "Refused", rule: "address" })
      }).pipe(Effect.provide(world)))
  }

  it.effect("are not requested without TLS by a name that resolves outside OUTBOUND_ALLOW", () =>
    Effect.gen(function*() {
      const { port, requests } = yield* host((_, response) => sendJson(response, {}))
      const refused = yield* Effect.flip(getJson(`http://public.test:${port}/`))
      assert.deepInclude(refused, { _tag: "Refused", rule: "address" })
      assert.strictEqual(requests.length, 0)
    }).pipe(Effect.provide(outbound({ allow: ["127.1.0.0/16"], names: () => ["8.8.8.8", "127.0.0.1"] }))))

  it.effect("and unknown names are unreachable", () =>
    Effect.gen(function*() {
      assert.deepInclude(yield* Effect.flip(getJson("https://nowhere.test/")), { _tag: "Unreachable", reason: "name" })
    }).pipe(Effect.provide(outbound())))
})

describe("row 29: names that resolve differently the second time", () => {
  it.effect("the checked address is the one that is connected to", () => {
    let asked = 0
    return Effect.gen(function*() {
      const good = yield* host((_, response) => sendJson(response, { good: true }))
      assert.deepStrictEqual((yield* getJson(`http://rebinding.test:${good.port}/`)).value, { good: true })
      assert.strictEqual(asked, 1)
      // The next connection resolves again, and this time the name is internal.
      const later = yield* host((_, response) => sendJson(response, { inside: true }))
      assert.deepInclude(yield* Effect.flip(getJson(`http://rebinding.test:${later.port}/`)), { rule: "address" })
      assert.strictEqual(asked, 2)
      assert.strictEqual(later.requests.length, 0)
    }).pipe(Effect.provide(outbound({
      allow: ["127.0.0.1/32"],
      names: () => asked++ === 0 ? ["127.0.0.1"] : ["127.0.0.2"]
    })))
  })
})

/** Starts a host that reports connections and received data. */
const talking = Effect.fnUntraced(function*(reply: (socket: Socket) => void) {
  const heard = yield* Deferred.make<Socket>()
  const place = yield* rawHost((socket) =>
    socket.once("data", () => {
      reply(socket)
      Deferred.doneUnsafe(heard, Effect.succeed(socket))
    })
  )
  return { ...place, heard: Deferred.await(heard) }
})

const head = "HTTP/1.1 200 OK\r\ncontent-type: application/activity+json\r\n"

describe("row 30: slow hosts", () => {
  it.effect("that never complete TLS are given up after five seconds", () =>
    Effect.gen(function*() {
      const { heard, port } = yield* talking(() => {})
      const asking = yield* Effect.forkChild(Effect.flip(getJson(`https://127.0.0.1:${port}/`)))
      yield* heard
      yield* TestClock.adjust(`${connectSecondsMax} seconds`)
      assert.deepInclude(yield* Fiber.join(asking), { _tag: "Unreachable", reason: "timeout" })
    }).pipe(Effect.provide(outbound())))

  for (const [what, reply] of [["nothing", ""], ["half a head", "HTTP/1.1 200 OK\r\nx: "]] as const) {
    it.effect(`that respond with ${what} are given up after fifteen seconds`, () =>
      Effect.gen(function*() {
        const { heard, url } = yield* talking((socket) => socket.write(reply))
        const asking = yield* Effect.forkChild(Effect.flip(getJson(url)))
        yield* heard
        yield* TestClock.adjust(`${headSecondsMax} seconds`)
        assert.deepInclude(yield* Fiber.join(asking), { _tag: "Unreachable", reason: "timeout" })
      }).pipe(Effect.provide(outbound())))
  }

  it.effect("that stall in the body are given up after ten seconds more", () =>
    Effect.gen(function*() {
      const { heard, url } = yield* talking((socket) => socket.write(`${head}content-length: 100\r\n\r\n{`))
      const asking = yield* Effect.forkChild(Effect.flip(getJson(url)))
      const socket = yield* heard
      const closed = yield* Effect.forkChild(Effect.callback<void>((resume) => {
        socket.once("close", () => resume(Effect.void))
      }))
      // No signal marks the start of the read; a few turns suffice, long before the deadline of the whole document.
      for (let seconds = 0; seconds < documentSecondsMax - readSecondsMax; seconds++) {
        yield* Effect.repeat(turn, { times: 20 })
        if (asking.pollUnsafe() !== undefined) break
        yield* TestClock.adjust("1 second")
      }
      assert.isDefined(asking.pollUnsafe())
      assert.deepInclude(yield* Fiber.join(asking), { _tag: "Unreachable", reason: "timeout" })
      yield* Fiber.join(closed)
    }).pipe(Effect.provide(outbound())))

  it.effect("that drip are given up after thirty seconds in total", () =>
    Effect.gen(function*() {
      const { heard, url } = yield* talking((socket) => socket.write(`${head}content-length: 100\r\n\r\n{`))
      const asking = yield* Effect.forkChild(Effect.flip(getJson(url)))
      const socket = yield* heard
      for (let seconds = 0; seconds < documentSecondsMax; seconds += 5) {
        assert.isUndefined(asking.pollUnsafe(), `given up after ${seconds} seconds`)
        yield* Effect.promise(() => new Promise((done) => socket.write(" ", done)))
        // The byte is in flight to the reader; a few turns of the event loop deliver it.
        yield* Effect.repeat(turn, { times: 20 })
        yield* TestClock.adjust("5 seconds")
      }
      assert.deepInclude(yield* Fiber.join(asking), { _tag: "Unreachable", reason: "timeout" })
    }).pipe(Effect.provide(outbound())))

  it.effect("get eight concurrent requests; others wait, and other hosts do not", () =>
    Effect.gen(function*() {
      const waiting: Array<() => void> = []
      const full = yield* Deferred.make<void>()
      const slow = yield* host((_, response) => {
        waiting.push(() => sendJson(response, {}))
        if (waiting.length === requestsPerHostMax) Deferred.doneUnsafe(full, Effect.void)
      })
      const quick = yield* host((_, response) => sendJson(response, {}))
      const asking = yield* Effect.forkChild(
        Effect.forEach(Array.from({ length: 3 * requestsPerHostMax }), () => getJson(slow.url), {
          concurrency: "unbounded"
        })
      )
      yield* Deferred.await(full)
      yield* getJson(quick.url)
      assert.strictEqual(slow.requests.length, requestsPerHostMax)
      yield* Effect.forkChild(Effect.forever(Effect.andThen(Effect.sync(() => waiting.pop()?.()), turn)))
      assert.strictEqual((yield* Fiber.join(asking)).length, 3 * requestsPerHostMax)
    }).pipe(Effect.provide(outbound())))

  it.effect("let a limited number wait; further requests are refused at once", () =>
    Effect.gen(function*() {
      const slow = yield* host(() => {})
      const many = requestsPerHostMax + waitingPerHostMax
      const asked = yield* Effect.forEach(Array.from({ length: many + 3 }), () =>
        Effect.forkChild(Effect.flip(getJson(slow.url))))
      yield* Effect.repeat(turn, {
        until: () =>
          asked.slice(many).every((fiber) => fiber.pollUnsafe() !== undefined)
      })
      for (const fiber of asked.slice(many)) {
        assert.deepInclude(yield* Fiber.join(fiber), { _tag: "Unreachable", reason: "busy" })
      }
      assert.isUndefined(asked[many - 1]?.pollUnsafe())
      yield* Effect.forEach(asked, Fiber.interrupt, { discard: true, concurrency: "unbounded" })
    }).pipe(Effect.provide(outbound())))
})

const turn = Effect.callback<void>((resume) => {
  setImmediate(() => resume(Effect.void))
})
