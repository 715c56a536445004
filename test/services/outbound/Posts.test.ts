import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import type { Socket } from "node:net"
import { requestsPerHostMax } from "../../../src/services/outbound/HostSlots.ts"
import { Outbound, pushWaitMillisMax, replyBytesMax, replySecondsMax } from "../../../src/services/outbound/Outbound.ts"
import { outbound, rawHost } from "./FarHosts.ts"

const postDocument = (url: string) =>
  Outbound.use((client) =>
    client.post({ url: `${url}/inbox`, headers: { "content-type": "a/b" }, body: new TextEncoder().encode("{}") })
  )

/** Starts a host that responds to each request with these bytes, and reports the first one. */
const respondingHost = Effect.fnUntraced(function*(response: (socket: Socket) => void) {
  const heard = yield* Deferred.make<Socket>()
  const { url } = yield* rawHost((socket) =>
    socket.on("data", () => {
      response(socket)
      Deferred.doneUnsafe(heard, Effect.succeed(socket))
    })
  )
  return { url, heard: Deferred.await(heard) }
})

const turns = Effect.repeat(
  Effect.callback<void>((resume) => {
    setImmediate(() => resume(Effect.void))
  }),
  { times: 20 }
)

describe("rows 30, 31: responses to a POST", () => {
  for (const [what, response] of [["nothing", ""], ["half a head", "HTTP/1.1 202 Accepted\r\nx: "]] as const) {
    it.effect(`a host that responds with ${what} is given up after ten seconds, and its connection closed`, () =>
      Effect.gen(function*() {
        const { heard, url } = yield* respondingHost((socket) => socket.write(response))
        const posting = yield* Effect.forkChild(Effect.flip(postDocument(url)))
        const socket = yield* heard
        const closed = yield* Effect.forkChild(Effect.callback<void>((resume) => {
          socket.once("close", () => resume(Effect.void))
        }))
        yield* TestClock.adjust(`${replySecondsMax - 1} seconds`)
        assert.isUndefined(posting.pollUnsafe())
        yield* TestClock.adjust("1 second")
        assert.deepInclude(yield* Fiber.join(posting), { _tag: "Unreachable", reason: "timeout" })
        yield* Fiber.join(closed)
      }).pipe(Effect.provide(outbound())))
  }

  it.effect("a dripping body does not invalidate its status", () =>
    Effect.gen(function*() {
      const { heard, url } = yield* respondingHost((socket) => {
        socket.write("HTTP/1.1 202 Accepted\r\ncontent-length: 100\r\n\r\nx")
      })
      const posting = yield* Effect.forkChild(postDocument(url))
      yield* heard
      yield* turns
      yield* TestClock.adjust(`${replySecondsMax} seconds`)
      assert.deepStrictEqual(yield* Fiber.join(posting), { status: 202, retryAfterSeconds: undefined, text: "" })
    }).pipe(Effect.provide(outbound())))

  const long = "x".repeat(replyBytesMax + 1)
  const responses: ReadonlyArray<readonly [what: string, response: string, close: boolean, text: string]> = [
    ["a short text", "HTTP/1.1 400 Bad\r\ncontent-length: 3\r\n\r\nwhy", false, "why"],
    ["a longer text than is read", `HTTP/1.1 400 Bad\r\ncontent-length: ${long.length}\r\n\r\n${long}`, false, ""],
    [
      "one that does not say so",
      `HTTP/1.1 400 Bad\r\ntransfer-encoding: chunked\r\n\r\n2001\r\n${long}\r\n`,
      false,
      ""
    ],
    ["a packed text", "HTTP/1.1 400 Bad\r\ncontent-encoding: gzip\r\ncontent-length: 3\r\n\r\nwhy", false, ""],
    ["a text that breaks off", "HTTP/1.1 400 Bad\r\ncontent-length: 30\r\n\r\nwhy", true, ""]
  ]
  for (const [what, response, close, text] of responses) {
    it.effect(`with ${what}: the status counts`, () =>
      Effect.gen(function*() {
        const { url } = yield* respondingHost((socket) => close ? socket.end(response) : socket.write(response))
        assert.deepStrictEqual(yield* postDocument(url), { status: 400, retryAfterSeconds: undefined, text })
      }).pipe(Effect.provide(outbound())))
  }

  it.effect("a connection closed before the response is a failure, and an interrupted request ends only its own", () =>
    Effect.gen(function*() {
      const closing = yield* respondingHost((socket) => socket.destroy())
      assert.deepInclude(yield* Effect.flip(postDocument(closing.url)), { _tag: "Unreachable", reason: "closed" })
      const silent = yield* respondingHost(() => {})
      const posting = yield* Effect.forkChild(postDocument(silent.url))
      const socket = yield* silent.heard
      const closed = yield* Effect.forkChild(Effect.callback<void>((resume) => {
        socket.once("close", () => resume(Effect.void))
      }))
      yield* Fiber.interrupt(posting)
      yield* Fiber.join(closed)
    }).pipe(Effect.provide(outbound())))
})

describe("F110: a POST to a host without a free slot", () => {
  /** Starts a host that never responds while `silent`, and counts its requests. */
  const unresponsiveHost = Effect.gen(function*() {
    const state = { silent: true, requests: 0 }
    const { url } = yield* rawHost((socket) =>
      socket.on("data", () => {
        state.requests++
        if (!state.silent) socket.write("HTTP/1.1 202 Accepted\r\ncontent-length: 0\r\n\r\n")
      })
    )
    return { url, state }
  })
  const many = (url: string) =>
    Effect.forEach(Array.from({ length: requestsPerHostMax }), () => Effect.forkChild(Effect.flip(postDocument(url))))
  const arrived = (state: { readonly requests: number }, count: number) =>
    Effect.repeat(turns, { until: () => state.requests >= count })

  it.effect("has its whole timeout once it has a slot", () =>
    Effect.gen(function*() {
      const { state, url } = yield* unresponsiveHost
      yield* many(url)
      yield* arrived(state, requestsPerHostMax)
      const late = yield* Effect.forkChild(Effect.flip(postDocument(url)))
      yield* TestClock.adjust(`${replySecondsMax} seconds`)
      yield* arrived(state, requestsPerHostMax + 1)
      yield* TestClock.adjust(`${replySecondsMax - 1} seconds`)
      assert.isUndefined(late.pollUnsafe())
      yield* TestClock.adjust("1 second")
      assert.deepInclude(yield* Fiber.join(late), { _tag: "Unreachable", reason: "timeout" })
    }).pipe(Effect.provide(outbound())))

  it.effect("is given up after a while if it is a push, so that its claim does not expire first", () =>
    Effect.gen(function*() {
      const { state, url } = yield* unresponsiveHost
      yield* many(url)
      yield* arrived(state, requestsPerHostMax)
      const push = Outbound.use((client) =>
        client.post({ url: `${url}/push`, headers: {}, body: new Uint8Array(), purpose: "push" })
      )
      const waiting = yield* Effect.forkChild(Effect.flip(push))
      yield* turns
      yield* TestClock.adjust(pushWaitMillisMax)
      assert.deepInclude(yield* Fiber.join(waiting), { _tag: "Unreachable", reason: "busy" })
      // The refused request left the queue: the next one gets the first free slot.
      state.silent = false
      const next = yield* Effect.forkChild(postDocument(url))
      yield* turns
      yield* TestClock.adjust(`${replySecondsMax} seconds`)
      assert.strictEqual((yield* Fiber.join(next)).status, 202)
      assert.strictEqual(state.requests, requestsPerHostMax + 1)
    }).pipe(Effect.provide(outbound())))
})
