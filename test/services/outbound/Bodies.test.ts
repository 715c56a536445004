import { assert, describe, it } from "@effect/vitest"
import { Effect, Stream } from "effect"
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib"
import { jsonDepthMax, jsonValuesMax } from "../../../src/services/outbound/BoundedJson.ts"
import { type DocumentType, html } from "../../../src/services/outbound/DocumentTypes.ts"
import { documentBytesMax, Outbound } from "../../../src/services/outbound/Outbound.ts"
import { activityJson, getJson, host, outbound, rawHost, sendJson } from "./FarHosts.ts"

const anything: DocumentType = { accept: "*/*", accepts: () => true }
const rule = <A, R>(effect: Effect.Effect<A, unknown, R>) => Effect.flip(effect)
const file = (url: string, bytesMax: number) =>
  Effect.scoped(Outbound.use(({ stream }) =>
    Effect.flatMap(
      stream({ url, type: anything, bytesMax, secondsMax: 60 }),
      ({ body }) => Stream.runFold(body, () => 0, (sum, chunk) => sum + chunk.byteLength)
    )
  ))

const respondingHost = (body: Uint8Array | string, headers: Record<string, string> = {}) =>
  host((_, response) => response.writeHead(200, { ...activityJson, ...headers }).end(body))

describe("row 31: large and compressed bodies", () => {
  const document = JSON.stringify({ text: "a".repeat(1_000) })
  for (
    const [encoding, packed] of [
      ["gzip", gzipSync(document)],
      ["x-gzip", gzipSync(document)],
      ["deflate", deflateSync(document)],
      ["br", brotliCompressSync(document)],
      ["identity", document]
    ] as const
  ) {
    it.effect(`decompresses ${encoding}`, () =>
      Effect.gen(function*() {
        const { url } = yield* respondingHost(packed, { "content-encoding": encoding })
        assert.deepStrictEqual((yield* getJson(url)).value, JSON.parse(document))
      }).pipe(Effect.provide(outbound())))
  }

  const zeros = Buffer.alloc(200_000_000)
  for (
    const [encoding, packed] of [["gzip", gzipSync(zeros)], [
      "br",
      brotliCompressSync(zeros.subarray(0, 20_000_000))
    ]] as const
  ) {
    it.effect(`stops decompressing ${encoding} at the limit`, () =>
      Effect.gen(function*() {
        const { url } = yield* respondingHost(packed, { "content-encoding": encoding })
        const before = process.memoryUsage().arrayBuffers
        assert.deepInclude(yield* rule(getJson(url)), { _tag: "Refused", rule: "size" })
        assert.isBelow(process.memoryUsage().arrayBuffers - before, 4 * documentBytesMax)
      }).pipe(Effect.provide(outbound())))
  }

  for (
    const [encoding, packed, expected] of [
      ["gzip, gzip", gzipSync(gzipSync(document)), "encoding"],
      ["gzip, br", document, "encoding"],
      ["zstd", document, "encoding"],
      ["gzip", document, "body"],
      ["gzip", gzipSync(document).subarray(0, -8), "body"]
    ] as const
  ) {
    it.effect(`refuses ${encoding} (${expected})`, () =>
      Effect.gen(function*() {
        const { url } = yield* respondingHost(packed, { "content-encoding": encoding })
        assert.deepInclude(yield* rule(getJson(url)), { _tag: "Refused", rule: expected })
      }).pipe(Effect.provide(outbound())))
  }

  it.effect("refuses more than a document's maximum, announced or not", () =>
    Effect.gen(function*() {
      const text = JSON.stringify("a".repeat(documentBytesMax - 2))
      const exact = yield* respondingHost(text)
      assert.strictEqual((yield* getJson(exact.url)).value, JSON.parse(text))
      const announced = yield* respondingHost(`${text} `)
      assert.deepInclude(yield* rule(getJson(announced.url)), { rule: "size" })
      const endless = yield* host((request, response) => {
        response.writeHead(200, activityJson)
        const more = () => {
          while (!request.destroyed && response.write(" ".repeat(16_384)));
        }
        response.on("drain", more)
        more()
      })
      assert.deepInclude(yield* rule(getJson(endless.url)), { rule: "size" })
      assert.deepInclude(yield* rule(file(endless.url, 3_000_000)), { rule: "size" })
    }).pipe(Effect.provide(outbound())))

  it.effect("does not trust a wrong length", () =>
    Effect.gen(function*() {
      const { url } = yield* rawHost((socket) =>
        socket.end("HTTP/1.1 200 OK\r\ncontent-type: application/activity+json\r\ncontent-length: 100\r\n\r\n{}")
      )
      assert.deepInclude(yield* rule(getJson(url)), { _tag: "Unreachable", reason: "closed" })
    }).pipe(Effect.provide(outbound())))

  it.effect("streams a file, and refuses a compressed one", () =>
    Effect.gen(function*() {
      const large = yield* respondingHost(zeros.subarray(0, 5_000_000))
      assert.strictEqual(yield* file(large.url, 5_000_000), 5_000_000)
      assert.deepInclude(yield* rule(file(large.url, 4_999_999)), { rule: "size" })
      const packed = yield* respondingHost(gzipSync(document), { "content-encoding": "gzip" })
      assert.deepInclude(yield* rule(file(packed.url, 5_000)), { rule: "encoding" })
      assert.strictEqual(packed.requests[0]?.headers["accept-encoding"], "identity")
    }).pipe(Effect.provide(outbound())))

  it.effect("refuses endless headers", () =>
    Effect.gen(function*() {
      const { url } = yield* host((_, response) =>
        response.writeHead(200, { ...activityJson, "x-large": "a".repeat(20_000) }).end("{}")
      )
      assert.deepInclude(yield* rule(getJson(url)), { _tag: "Refused", rule: "headers" })
    }).pipe(Effect.provide(outbound())))
})

describe("row 32: deep and numerous values", () => {
  const nested = (depth: number) => "[".repeat(depth) + "]".repeat(depth)
  const numbers = (count: number) => JSON.stringify(Array<number>(count).fill(1))
  for (
    const [what, text, accepted] of [
      ["as deep as allowed", nested(jsonDepthMax), true],
      ["one deeper", nested(jsonDepthMax + 1), false],
      ["half a million deep", nested(500_000), false],
      ["as many values as allowed", numbers(jsonValuesMax), true],
      ["one value more", numbers(jsonValuesMax + 1), false],
      ["no JSON", "{", false],
      ["nothing", "", false]
    ] as const
  ) {
    it.effect(what, () =>
      Effect.gen(function*() {
        const { url } = yield* respondingHost(text)
        if (accepted) assert.deepStrictEqual((yield* getJson(url)).value, JSON.parse(text))
        else assert.deepInclude(yield* rule(getJson(url)), { _tag: "Refused", rule: "body" })
      }).pipe(Effect.provide(outbound())))
  }
})

describe("row 5: content types", () => {
  const profile = "https://www.w3.org/ns/activitystreams"
  for (
    const [type, accepted] of [
      ["application/activity+json", true],
      ["Application/Activity+JSON; charset=utf-8", true],
      [`application/ld+json; profile="${profile}"`, true],
      [`application/ld+json; charset=utf-8; profile="https://example.org ${profile}"`, true],
      ["application/ld+json", false],
      ["application/ld+json; profile=\"https://example.org\"", false],
      [`application/ld+json; x="; profile=${profile}"`, false],
      ["application/json", false],
      ["text/plain", false],
      ["text/html", false],
      ["image/png", false],
      ["application/octet-stream", false],
      ["application/activity+json-x", false],
      ["", false]
    ] as const
  ) {
    it.effect(`${accepted ? "accepts" : "refuses"} an activity as ${type === "" ? "nothing" : type}`, () =>
      Effect.gen(function*() {
        const { url } = yield* respondingHost("{}", { "content-type": type })
        if (accepted) assert.deepStrictEqual((yield* getJson(url)).value, {})
        else assert.deepInclude(yield* rule(getJson(url)), { _tag: "Refused", rule: "type" })
      }).pipe(Effect.provide(outbound())))
  }

  it.effect("decodes text by its charset", () =>
    Effect.gen(function*() {
      const latin = yield* respondingHost(Buffer.from("é", "latin1"), {
        "content-type": "text/html; charset=iso-8859-1"
      })
      const unknown = yield* respondingHost("é", { "content-type": "text/html; charset=nonsense" })
      const text = (url: string) => Outbound.use(({ text }) => text({ url, type: html }))
      assert.strictEqual((yield* text(latin.url)).value, "é")
      assert.strictEqual((yield* text(unknown.url)).value, "é")
    }).pipe(Effect.provide(outbound())))

  it.effect("reports a status other than 2xx, and its Retry-After", () =>
    Effect.gen(function*() {
      const { url } = yield* host((request, response) => {
        if (request.url === "/busy") response.writeHead(503, { "retry-after": "120" }).end()
        else if (request.url === "/") sendJson(response, {})
        else response.writeHead(410).end("gone")
      })
      assert.deepInclude(yield* rule(getJson(`${url}/busy`)), {
        _tag: "ErrorResponse",
        status: 503,
        retryAfterSeconds: 120
      })
      assert.deepInclude(yield* rule(getJson(`${url}/gone`)), { status: 410, retryAfterSeconds: undefined })
      assert.deepStrictEqual((yield* getJson(`${url}/`)).value, {})
    }).pipe(Effect.provide(outbound())))
})
