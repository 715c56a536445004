import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { once } from "node:events"
import type { ServerResponse } from "node:http"
import { type AddressInfo, connect, type Socket } from "node:net"
import { buffer } from "node:stream/consumers"
import { unreadBytesMax } from "../../src/layers/BatchedResponse.ts"
import * as NodeServer from "../../src/layers/NodeServer.ts"
import { markDisposable } from "../../src/services/runtime/OneTimeChunks.ts"
import { eventually } from "../support/Eventually.ts"

/** Connects a client to a server that responds to each request with `answer`. */
const asked = (requests: number, reply: (response: ServerResponse) => void) =>
  Effect.gen(function*() {
    const server = yield* Effect.acquireRelease(
      Effect.sync(() => NodeServer.make()),
      (server) => Effect.promise(() => new Promise((resolve) => server.close(resolve)))
    )
    server.on("request", (_, response: ServerResponse) => reply(response))
    yield* Effect.promise(() => new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve)))
    const client = yield* Effect.acquireRelease(
      Effect.sync(() => connect((server.address() as AddressInfo).port, "127.0.0.1")),
      (client) => Effect.sync(() => client.destroy())
    )
    const last = "GET / HTTP/1.1\r\nHost: a.example\r\nConnection: close\r\n\r\n"
    client.write("GET / HTTP/1.1\r\nHost: a.example\r\n\r\n".repeat(requests - 1) + last)
    return client
  })

const bodyOf = (client: Socket) =>
  Effect.map(Effect.promise(() => buffer(client)), (bytes) => bytes.subarray(bytes.indexOf("\r\n\r\n") + 4))

/** More than a connection buffers while its client reads nothing. */
const large = 64 * 1024 * 1024
const disposable = (size: number) => markDisposable(Buffer.alloc(size, "many words "))

it.effect("disposable bytes are released when they are written, not before", () =>
  Effect.gen(function*() {
    const bytes = disposable(large)
    const expected = Buffer.from(bytes)
    const finished = Promise.withResolvers<void>()
    const begun = Promise.withResolvers<void>()
    const client = yield* asked(1, (response) => {
      response.once("finish", finished.resolve)
      response.writeHead(200, { "content-length": bytes.byteLength })
      response.end(bytes)
      begun.resolve()
    })
    yield* Effect.promise(() => begun.promise)
    // The connection's buffers are full: the client received the first bytes and reads no more.
    yield* Effect.promise(() => once(client, "readable"))
    assert.strictEqual(bytes.byteLength, large)
    assert.isTrue((yield* bodyOf(client)).equals(expected))
    yield* Effect.promise(() => finished.promise)
    assert.strictEqual(bytes.byteLength, 0)
  }))

it.effect("bytes of an aborted response are kept, and so are bytes that others may read", () =>
  Effect.gen(function*() {
    const cut = disposable(large)
    const closed = Promise.withResolvers<void>()
    const client = yield* asked(1, (response) => {
      response.once("close", closed.resolve)
      response.end(cut)
    })
    yield* Effect.promise(() => once(client, "readable"))
    client.destroy()
    yield* Effect.promise(() => closed.promise)
    assert.strictEqual(cut.byteLength, large)

    const permanent = Buffer.alloc(100_000, "kept ")
    const finished = Promise.withResolvers<void>()
    const other = yield* asked(1, (response) => {
      response.once("finish", finished.resolve)
      response.writeHead(200, { "content-length": permanent.byteLength })
      response.end(permanent)
    })
    assert.isTrue((yield* bodyOf(other)).equals(permanent))
    yield* Effect.promise(() => finished.promise)
    assert.strictEqual(permanent.byteLength, 100_000)
  }))

it.effect("responses to pipelined requests keep their order, for short and long texts and bytes", () =>
  Effect.gen(function*() {
    const texts = ["short", "ñ🐦".repeat(20_000), "a".repeat(16_383), "é".repeat(16_384), "z".repeat(300_000), ""]
    let at = 0
    const client = yield* asked(texts.length, (response) => {
      const text = texts[at++] ?? ""
      const length = Buffer.byteLength(text)
      response.writeHead(200, { "content-length": length, "x-length": length })
      response.end(at % 5 === 0 ? markDisposable(Buffer.from(text)) : text)
    })
    let rest = yield* Effect.promise(() => buffer(client))
    for (const text of texts) {
      const head = rest.subarray(0, rest.indexOf("\r\n\r\n")).toString()
      const length = Number(/x-length: (\d+)/.exec(head)?.[1])
      const start = Buffer.byteLength(head) + 4
      assert.strictEqual(rest.subarray(start, start + length).toString(), text)
      rest = rest.subarray(start + length)
    }
    assert.strictEqual(rest.length, 0)
  }))

/** Connects clients to one server that send requests and read nothing by themselves. */
const unread = Effect.fnUntraced(function*(body: Buffer) {
  const server = yield* Effect.acquireRelease(
    Effect.sync(() => NodeServer.make()),
    (server) => Effect.promise(() => new Promise((resolve) => server.close(resolve)))
  )
  let ended = 0
  server.on("request", (_, response: ServerResponse) => {
    response.writeHead(200, { "content-length": body.byteLength })
    response.end(body)
    ended++
  })
  yield* Effect.promise(() => new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve)))
  return Effect.fnUntraced(function*(requests: number, localAddress = "127.0.0.1") {
    const accepted = new Promise<Socket>((resolve) => server.once("connection", resolve))
    const client = yield* Effect.acquireRelease(
      Effect.sync(() =>
        connect({ port: (server.address() as AddressInfo).port, host: "127.0.0.1", localAddress }).pause()
      ),
      (client) => Effect.sync(() => client.destroy())
    )
    client.on("error", () => undefined)
    const socket = yield* Effect.promise(() => accepted)
    const wanted = ended + requests
    client.write("GET / HTTP/1.1\r\nHost: a.example\r\n\r\n".repeat(requests))
    yield* eventually(Effect.sync(() => ended), (count) => count >= wanted)
    return { client, socket }
  })
})
/** Reads a response to its end. */
const readWhole = (client: Socket, bytes: number) =>
  Effect.callback<void>((resume) => {
    let count = 0
    client.on("data", (data: Buffer) => {
      count += data.byteLength
      if (count >= bytes) resume(Effect.void)
    })
    client.resume()
  })
/** Larger than a connection's buffers; a few of these bodies exceed the limit of unread bytes. */
const body = Buffer.alloc(large - 1_000_000, "many words ")
const tooMany = Math.ceil(unreadBytesMax / large) + 1

it.effect("F112: of clients that do not read, the longest waiting one is disconnected, and others are served", () =>
  Effect.gen(function*() {
    const ask = yield* unread(body)
    const clients = yield* Effect.forEach(Array.from({ length: tooMany }), () => ask(1))
    assert.deepStrictEqual(clients.map(({ socket }) => socket.destroyed), clients.map((_, at) => at === 0))
    for (const { client } of clients.slice(1)) yield* readWhole(client, body.length)
  }))

it.effect("F112: requests on one connection, whose responses wait for each other, count as well", () =>
  Effect.gen(function*() {
    const ask = yield* unread(body)
    const { socket } = yield* ask(tooMany)
    assert.isTrue(socket.destroyed)
  }))

it.effect("F131: a client that reads slowly is not closed because of another address, however long it has waited", () =>
  Effect.gen(function*() {
    const ask = yield* unread(body)
    const slow = yield* ask(1, "127.0.0.2")
    const others = yield* Effect.forEach(Array.from({ length: tooMany }), () => ask(1))
    assert.deepStrictEqual(others.map(({ socket }) => socket.destroyed), others.map((_, at) => at < 2))
    assert.isFalse(slow.socket.destroyed)
    yield* readWhole(slow.client, body.length)
  }))
