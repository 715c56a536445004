import { assert, layer } from "@effect/vitest"
import { Effect, Layer, Schema } from "effect"
import { TestClock } from "effect/testing"
import * as NodeKeyOperations from "../../../../src/layers/NodeKeyOperations.ts"
import { KeyOperations } from "../../../../src/services/federation/signatures/KeyOperations.ts"
import { type Scheme, Signatures } from "../../../../src/services/federation/signatures/Signatures.ts"
import {
  lifetimeMillisMax,
  type SignedRequest,
  skewMillisMax
} from "../../../../src/services/federation/signatures/SignedRequest.ts"
import { ServerConfig } from "../../../../src/services/instance/ServerConfig.ts"
import { configuration, publicUrl } from "../../../support/Reads.ts"

const start = Date.UTC(2026, 10, 21, 12)
const url = new URL(`${publicUrl}/users/a/inbox?x=1`)
const body = new TextEncoder().encode("{\"type\":\"Like\",\"id\":\"https://peer.test/1\"}")
const keyId = "https://peer.test/users/b#main-key"

const Live = Signatures.layer.pipe(
  Layer.provideMerge(NodeKeyOperations.layer),
  Layer.provide(Layer.succeed(ServerConfig, configuration))
)

/** Makes a received request, signed with a new key. */
const signed = Effect.fnUntraced(function*(scheme: Scheme, method: "GET" | "POST") {
  yield* TestClock.setTime(start)
  const { privatePem, publicPem } = yield* Effect.flatMap(KeyOperations, ({ generate }) => generate)
  const sent = yield* Signatures.use(({ sign }) =>
    sign(scheme, { keyId, privatePem }, {
      method,
      url,
      headers: method === "POST" ? { "content-type": "application/activity+json" } : {},
      body: method === "POST" ? body : undefined
    })
  )
  const request: SignedRequest = {
    method,
    target: url.pathname + url.search,
    headers: { host: url.host, ...sent },
    body: method === "POST" ? body : new Uint8Array()
  }
  return { request, publicPem }
})

/** Returns true if the request verifies with the key. */
const believed = (request: SignedRequest, publicPem: string) =>
  Signatures.use((signatures) =>
    Effect.matchEffect(signatures.claim(request), {
      onFailure: () => Effect.succeed(false),
      onSuccess: (claim) => signatures.isValid(claim, publicPem)
    })
  )

const changed = (bytes: Uint8Array, at: number) =>
  bytes.map((byte, index) => index === at % bytes.length ? byte ^ 1 : byte)
const changedText = (text: string, at: number) => {
  const index = at % text.length
  const other = text[index] === "a" ? "b" : "a"
  return text.slice(0, index) + other + text.slice(index + 1)
}

layer(Live)("signatures", (it) => {
  for (const scheme of ["draft-cavage", "rfc9421"] as const) {
    for (const method of ["GET", "POST"] as const) {
      it.effect(`a ${method} by ${scheme} verifies, only with the matching public key`, () =>
        Effect.gen(function*() {
          const { publicPem, request } = yield* signed(scheme, method)
          assert.isTrue(yield* believed(request, publicPem))
          const other = yield* Effect.flatMap(KeyOperations, ({ generate }) => generate)
          assert.isFalse(yield* believed(request, other.publicPem))
          assert.strictEqual((yield* Signatures.use(({ claim }) => claim(request))).keyId, keyId)
        }))
    }

    it.effect(`row 3: a change of any byte that ${scheme} signs is refused`, () =>
      Effect.gen(function*() {
        const { publicPem, request } = yield* signed(scheme, "POST")
        const { headers } = request
        for (let at = 0; at < body.length; at++) {
          assert.isFalse(yield* believed({ ...request, body: changed(body, at) }, publicPem), `body at ${at}`)
        }
        for (let at = 1; at < request.target.length; at++) {
          const target = changedText(request.target, at)
          assert.isFalse(yield* believed({ ...request, target }, publicPem), target)
        }
        const withHeader = (name: string, value: string) =>
          believed({ ...request, headers: { ...headers, [name]: value } }, publicPem)
        // The older scheme does not sign the key's id; the lookup of the key detects a change.
        const covered: ReadonlyArray<readonly [name: string, part: RegExp]> = scheme === "rfc9421"
          ? [["content-digest", /.+/], ["signature-input", /\(.+/]]
          : [["host", /.+/], ["date", /.+/], ["digest", /.+/], ["content-type", /.+/], ["signature", /headers="[^"]*"/]]
        for (const [name, part] of covered) {
          const value = headers[name] ?? ""
          const found = part.exec(value)
          assert.isNotNull(found)
          for (let at = found!.index; at < found!.index + found![0].length; at++) {
            assert.isFalse(yield* withHeader(name, changedText(value, at)), `${name} at ${at}`)
          }
        }
        const signature = headers["signature"] ?? ""
        const encoded = /(?<=signature=")[^"]+|(?<==:)[^:]+/.exec(signature)?.[0] ?? ""
        const bytes = Buffer.from(encoded, "base64")
        assert.strictEqual(bytes.length, 256)
        for (let at = 0; at < bytes.length; at++) {
          const other = Buffer.from(changed(bytes, at)).toString("base64")
          assert.isFalse(yield* withHeader("signature", signature.replace(encoded, other)), `signature at ${at}`)
        }
        assert.isFalse(yield* believed({ ...request, method: "PUT" }, publicPem))
      }))

    it.effect(`row 4: ${scheme} signs every required part`, () =>
      Effect.gen(function*() {
        const { publicPem, request } = yield* signed(scheme, "POST")
        const { headers } = request
        const refused = (changes: Partial<SignedRequest>, what: string) =>
          Effect.map(believed({ ...request, ...changes }, publicPem), (yes) => assert.isFalse(yes, what))
        yield* refused({ target: "/users/a/inbox" }, "another query")
        yield* refused({ target: "/users/c/inbox?x=1" }, "another inbox")
        for (const name of Object.keys(headers).filter((name) => name !== "content-type" && name !== "host")) {
          const { [name]: _, ...rest } = headers
          yield* refused({ headers: rest }, `without ${name}`)
        }
        const input = scheme === "rfc9421" ? "signature-input" : "signature"
        const parts = scheme === "rfc9421"
          ? ["\"@method\"", "\"@target-uri\"", "\"content-digest\"", /;created=\d+/, /;keyid="[^"]*"/]
          : ["(request-target)", "host ", "date ", "digest ", /keyId="[^"]*",/]
        for (const part of parts) {
          const without = (headers[input] ?? "").replace(part, "")
          assert.notStrictEqual(without, headers[input])
          yield* refused({ headers: { ...headers, [input]: without } }, `without ${String(part)}`)
        }
        yield* refused(
          { headers: { ...headers, signature: `${headers["signature"]}, ${headers["signature"]}` } },
          "twice"
        )
      }))

    it.effect(`row 4: a ${scheme} signature for another host is refused`, () =>
      Effect.gen(function*() {
        const { publicPem, request } = yield* signed(scheme, "POST")
        const elsewhere = Layer.fresh(Signatures.layer).pipe(
          Layer.provide(NodeKeyOperations.layer),
          Layer.provide(Layer.succeed(ServerConfig, { ...configuration, publicUrl: "https://elsewhere.test" }))
        )
        assert.isFalse(yield* believed(request, publicPem).pipe(Effect.provide(elsewhere)))
      }))

    it.effect(`row 78: ${scheme} is valid for a limited time`, () =>
      Effect.gen(function*() {
        const { publicPem, request } = yield* signed(scheme, "POST")
        const at = (millis: number) => Effect.andThen(TestClock.setTime(start + millis), believed(request, publicPem))
        assert.isTrue(yield* at(60 * 60_000))
        assert.isFalse(yield* at(skewMillisMax + 5 * 60_000 + 1_000))
        assert.isFalse(yield* at(lifetimeMillisMax + skewMillisMax + 1_000))
        assert.isTrue(yield* at(-skewMillisMax))
        assert.isFalse(yield* at(-skewMillisMax - 1_000))
      }))
  }

  const strange = [
    "",
    "keyId=\"a\"",
    "keyId=\"a\",signature=\"\",headers=\"\"",
    "keyId=\"a\",keyId=\"b\",headers=\"(request-target) host date digest\",signature=\"YQ==\"",
    "keyId=\"a\",algorithm=\"RSA-SHA256\",headers=\"(request-target) host date digest\",signature=\"YQ==\"",
    "keyId=\"a\",algorithm=\"hmac-sha256\",headers=\"(request-target) host date digest\",signature=\"YQ==\"",
    "keyId=\"a\",headers=\"(request-target) host host date digest\",signature=\"YQ==\"",
    "keyId=\"a\",headers=\"(request-target) host date digest x-absent\",signature=\"YQ==\"",
    "x".repeat(10_000),
    "keyId=\"".repeat(1_000)
  ]
  for (const signature of strange) {
    it.effect(`row 3: refuses ${signature.slice(0, 90)}`, () =>
      Effect.gen(function*() {
        const { request } = yield* signed("draft-cavage", "POST")
        yield* Effect.flip(
          Signatures.use(({ claim }) => claim({ ...request, headers: { ...request.headers, signature } }))
        )
      }))
  }

  it.prop(
    "row 3: never accepts arbitrary header values",
    [Schema.String, Schema.String],
    ([input, signature]) =>
      Effect.gen(function*() {
        const { publicPem, request } = yield* signed("draft-cavage", "POST")
        const headers = { ...request.headers, signature }
        assert.isFalse(yield* believed({ ...request, headers }, publicPem))
        assert.isFalse(yield* believed({ ...request, headers: { ...headers, "signature-input": input } }, publicPem))
      }),
    { arbitrary: { runs: 50 } }
  )
})
