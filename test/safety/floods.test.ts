import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { connect, type Socket } from "node:net"
import { memoryUsage } from "node:process"
import { TestServer } from "../support/Server.ts"
import { call } from "./Calls.ts"

const mebibyte = 1_048_576

/** Opens a raw connection, which closes with the scope. `ended` returns all received text. */
const open = Effect.gen(function*() {
  const { baseUrl } = yield* TestServer
  const { hostname, port } = new URL(baseUrl)
  const socket = yield* Effect.acquireRelease(
    Effect.sync(() => connect(Number(port), hostname)),
    (socket) => Effect.sync(() => socket.destroy())
  )
  let text = ""
  socket.on("data", (data) => text += data)
  socket.on("error", () => undefined)
  const ended = new Promise<string>((resolve) => socket.once("close", () => resolve(text)))
  /** Returns all received text after this number of responses. */
  const responses = (count: number) =>
    Effect.callback<string>((resume) => {
      const look = () => text.split("HTTP/1.1 ").length > count && resume(Effect.succeed(text))
      socket.on("data", look)
      look()
    })
  return { socket, ended: Effect.promise(() => ended), responses }
})

/** Sends until the other side closes; returns the number of bytes that it accepted. */
const writeUntilClosed = (socket: Socket, piece: Buffer, bytesMax: number) =>
  Effect.callback<number>((resume) => {
    let sent = 0
    const done = () => resume(Effect.succeed(sent))
    socket.once("close", done)
    const go = (): void => {
      while (!socket.destroyed && sent < bytesMax) {
        sent += piece.length
        if (!socket.write(piece)) return void socket.once("drain", go)
      }
      if (sent >= bytesMax) done()
    }
    go()
  })

layer(TestServer.layer(), { excludeTestServices: true })("row 40", (it) => {
  it.effect("a body of 300 MB is refused before it is read, on every kind of route", () =>
    Effect.gen(function*() {
      for (const path of ["/api/v1/statuses", "/oauth/token", "/auth/sign_in", "/inbox", "/nowhere"]) {
        const { ended, socket } = yield* open
        socket.write(
          `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${
            300 * mebibyte
          }\r\n\r\n`
        )
        const sent = yield* writeUntilClosed(socket, Buffer.alloc(65_536, " "), 300 * mebibyte)
        assert.isBelow(sent, 50 * mebibyte, path)
        assert.match(yield* ended, /^HTTP\/1\.1 4\d\d |^$/, path)
      }
    }).pipe(Effect.scoped))

  it.effect("a chunked body without an end is cut off after its first megabytes, and memory stays flat", () =>
    Effect.gen(function*() {
      const { createPerson } = yield* TestServer
      const { token } = yield* createPerson("ada")
      const before = memoryUsage.rss()
      const { socket } = yield* open
      socket.write(
        `POST /api/v1/statuses HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\n` +
          "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
      )
      const chunk = Buffer.concat([Buffer.from("10000\r\n"), Buffer.alloc(65_536, " "), Buffer.from("\r\n")])
      const sent = yield* writeUntilClosed(socket, chunk, 300 * mebibyte)
      assert.isBelow(sent, 50 * mebibyte)
      assert.isBelow(memoryUsage.rss() - before, 150 * mebibyte)
    }).pipe(Effect.scoped))

  it.effect("a multipart body without an end is also cut off, with one file, one field or many", () =>
    Effect.gen(function*() {
      const { createPerson } = yield* TestServer
      const { token } = yield* createPerson("carl")
      const part = (more: string) => `--x\r\nContent-Disposition: form-data; name="avatar"${more}\r\n\r\n`
      const kib64 = 65_536
      const floods: ReadonlyArray<readonly [start: string, piece: string]> = [
        [part("; filename=\"a.png\""), "x".repeat(kib64)],
        [part(""), "x".repeat(kib64)],
        ["", `${part("")}y\r\n`.repeat(1000)],
        [`--x\r\nContent-Disposition: form-data; name="`, "x".repeat(kib64)],
        ["", "x".repeat(kib64)]
      ]
      const before = memoryUsage.rss()
      for (const [start, piece] of floods) {
        const { socket } = yield* open
        socket.write(
          `PATCH /api/v1/accounts/update_credentials HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\n` +
            "Content-Type: multipart/form-data; boundary=x\r\nTransfer-Encoding: chunked\r\n\r\n"
        )
        const chunk = (data: string) => Buffer.from(`${Buffer.byteLength(data).toString(16)}\r\n${data}\r\n`)
        if (start !== "") socket.write(chunk(start))
        const sent = yield* writeUntilClosed(socket, chunk(piece), 300 * mebibyte)
        assert.isBelow(sent, 50 * mebibyte, start)
      }
      assert.isBelow(memoryUsage.rss() - before, 150 * mebibyte)
      assert.strictEqual((yield* call("GET", "/api/v1/instance")).status, 200)
    }).pipe(Effect.scoped))

  it.effect("pipelined requests get responses in order, and garbage gets 400 and a closed connection", () =>
    Effect.gen(function*() {
      const { responses, ended, socket } = yield* open
      const paths = ["/health", "/api/v1/nowhere", "/api/v1/instance/languages"]
      const asked = Array.from({ length: 60 }, (_, index) => paths[index % paths.length]!)
      socket.write(asked.map((path) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`).join(""))
      const statuses = Array.from((yield* responses(60)).matchAll(/HTTP\/1\.1 (\d+) /g), ([, status]) => status)
      assert.deepStrictEqual(statuses, asked.map((path) => path.includes("nowhere") ? "404" : "200"))
      socket.write("\u0016\u0003\u0001 what is this\r\n\r\n")
      assert.include(yield* ended, "HTTP/1.1 400 ")
    }).pipe(Effect.scoped))

  it.effect(
    "2,000 connections that send headers a byte at a time do not block others",
    () =>
      Effect.gen(function*() {
        const before = memoryUsage.rss()
        const slow = yield* Effect.forEach(Array.from({ length: 2_000 }), () => open, { concurrency: 100 })
        for (const { socket } of slow) socket.write("GET /health HTTP/1.1\r\nHost: x\r\nX-Slow: ")
        for (let round = 0; round < 5; round++) {
          for (const { socket } of slow) socket.write("x")
          assert.strictEqual((yield* call("GET", "/health")).status, 200)
          assert.strictEqual((yield* call("GET", "/api/v1/instance")).status, 200)
        }
        assert.isBelow(memoryUsage.rss() - before, 200 * mebibyte)
      }).pipe(Effect.scoped)
  )

  it.effect("too deep, too long and too large bodies are refused without harm", () =>
    Effect.gen(function*() {
      const { createPerson } = yield* TestServer
      const ada = yield* createPerson("bob")
      const bodies = {
        "deep JSON": ["application/json", "[".repeat(100_000) + "]".repeat(100_000)],
        "deep form": ["application/x-www-form-urlencoded", `status${"[a]".repeat(50_000)}=1`],
        "many fields": ["application/x-www-form-urlencoded", "a=1&".repeat(100_000)],
        "many values": ["application/x-www-form-urlencoded", "a[]=1&".repeat(100_000)],
        "prototype": ["application/json", `{"__proto__":{"status":"polluted"}}`],
        "not JSON": ["application/json", `{"status":`],
        "wrong bytes": ["application/json", "{\"status\":\"\ud800\"}"],
        "long text": ["application/json", JSON.stringify({ status: "x".repeat(900_000) })],
        "many mentions": ["application/json", JSON.stringify({ status: "@bob ".repeat(100_000) })],
        "many tags": ["application/json", JSON.stringify({ status: "#a ".repeat(200_000) })]
      }
      for (const [name, [type, body]] of Object.entries(bodies)) {
        const { status, text } = yield* call("POST", "/api/v1/statuses", ada, undefined, {
          body: body ?? "",
          headers: { "content-type": type ?? "" }
        })
        assert.include(name === "wrong bytes" ? [200] : [400, 422], status, `${name}: ${text.slice(0, 200)}`)
      }
    }))
})
