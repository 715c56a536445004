import { assert, describe, it } from "@effect/vitest"
import { Effect, Result } from "effect"
import * as NodeKeyOperations from "../../../../src/layers/NodeKeyOperations.ts"
import * as Cavage from "../../../../src/services/federation/signatures/Cavage.ts"
import { contentDigest, isContentDigestOf, isDigestOf } from "../../../../src/services/federation/signatures/Digests.ts"
import { KeyOperations } from "../../../../src/services/federation/signatures/KeyOperations.ts"
import { signatureBase } from "../../../../src/services/federation/signatures/MessageSignatures.ts"

const utf8 = new TextEncoder()
const body = utf8.encode("{\"hello\": \"world\"}")

describe("draft-cavage-http-signatures-12, appendix C", () => {
  const publicKey = `-----BEGIN PUBLIC KEY-----
MIGfMA0GCSqGSIb3DQEBAQUAA4GNADCBiQKBgQDCFENGw33yGihy92pDjZQhl0C3
6rPJj+CvfSC8+q28hxA161QFNUd13wuCTUcq0Qd2qsBe/2hFyc2DCJJg0h1L78+6
Z4UMR7EOcpfdUE9Hf3m/hs+FUR45uBJeDK1HSFHD8bHKD6kv8FPGfJTotc+2xjJw
oYi+1hqp1fIekaxsyQIDAQAB
-----END PUBLIC KEY-----
`
  const signature =
    "vSdrb+dS3EceC9bcwHSo4MlyKS59iFIrhgYkz8+oVLEEzmYZZvRs8rgOp+63LEM3v+MFHB32NfpB2bEKBIvB1q52LaEUHFv120V01IL+TAD48XaERZFukWgHoBTLMhYS2Gb51gWxpeIq8knRmPnYePbF5MOkR0Zkly4zKH7s1dE="
  const request = {
    method: "POST",
    target: "/foo?param=value&pet=dog",
    headers: {
      host: "example.com",
      date: "Sun, 05 Jan 2014 21:31:40 GMT",
      "content-type": "application/json",
      digest: "SHA-256=X48E9qOokqqrvdts8nOJRJN3OWDUoyWxBf7kbu9DBPE=",
      "content-length": "18",
      signature:
        `keyId="Test",algorithm="rsa-sha256",headers="(request-target) host date content-type digest content-length",signature="${signature}"`
    },
    body
  }

  it.effect("C.3: all headers", () =>
    Effect.gen(function*() {
      const claim = Result.getOrThrow(
        Cavage.claim(request, new URL("http://example.com"), Date.UTC(2014, 0, 5, 21, 31, 40))
      )
      assert.strictEqual(claim.keyId, "Test")
      assert.strictEqual(
        new TextDecoder().decode(claim.base),
        [
          "(request-target): post /foo?param=value&pet=dog",
          "host: example.com",
          "date: Sun, 05 Jan 2014 21:31:40 GMT",
          "content-type: application/json",
          "digest: SHA-256=X48E9qOokqqrvdts8nOJRJN3OWDUoyWxBf7kbu9DBPE=",
          "content-length: 18"
        ].join("\n")
      )
      const keys = yield* KeyOperations
      assert.isTrue(yield* keys.verify(publicKey, claim.algorithm, claim.base, claim.signature))
      assert.isFalse(yield* keys.verify(publicKey, "ed25519", claim.base, claim.signature))
    }).pipe(Effect.provide(NodeKeyOperations.layer)))
})

describe("RFC 9421, appendix B", () => {
  const publicKey = `-----BEGIN PUBLIC KEY-----
MCowBQYDK2VwAyEAJrQLj5P/89iXES9+vFgrIy29clF9CC/oPPsw3c5D0bs=
-----END PUBLIC KEY-----
`
  const request = {
    method: "POST",
    target: "/foo?param=Value&Pet=dog",
    origin: new URL("https://example.com"),
    headers: {
      date: "Tue, 20 Apr 2021 02:07:55 GMT",
      "content-type": "application/json",
      "content-digest":
        "sha-512=:WZDPaVn/7XgHaAy8pmojAkGWoRx2UFChF41A2svX+TaPm+AbwAgBWnrIiYllu7BNNyealdVLvRwEmTHWXvJwew==:",
      "content-length": "18"
    }
  }

  it.effect("B.2.6: Ed25519", () =>
    Effect.gen(function*() {
      const base = signatureBase(
        ["date", "@method", "@path", "@authority", "content-type", "content-length"],
        "(\"date\" \"@method\" \"@path\" \"@authority\" \"content-type\" \"content-length\");created=1618884473;keyid=\"test-key-ed25519\"",
        request
      ) ?? ""
      assert.strictEqual(base.split("\n")[2], "\"@path\": /foo")
      const signature = Buffer.from(
        "wqcAqbmYJ2ji2glfAMaRy4gruYYnx2nEFN2HN6jrnDnQCK1u02Gb04v9EDgwUPiu4A0w6vuQv5lIp5WPpBKRCw==",
        "base64"
      )
      const keys = yield* KeyOperations
      assert.isTrue(yield* keys.verify(publicKey, "ed25519", utf8.encode(base), signature))
      assert.isTrue(yield* keys.verify(publicKey, undefined, utf8.encode(base), signature))
      assert.isFalse(yield* keys.verify(publicKey, "rsa-sha256", utf8.encode(base), signature))
    }).pipe(Effect.provide(NodeKeyOperations.layer)))

  it("section 2.2: derived components", () => {
    const names = ["@method", "@target-uri", "@authority", "@scheme", "@request-target", "@path", "@query"]
    assert.deepStrictEqual(signatureBase(names, "()", request)?.split("\n"), [
      "\"@method\": POST",
      "\"@target-uri\": https://example.com/foo?param=Value&Pet=dog",
      "\"@authority\": example.com",
      "\"@scheme\": https",
      "\"@request-target\": /foo?param=Value&Pet=dog",
      "\"@path\": /foo",
      "\"@query\": ?param=Value&Pet=dog",
      "\"@signature-params\": ()"
    ])
    assert.isUndefined(signatureBase(["@status"], "()", request))
    assert.isUndefined(signatureBase(["x-absent"], "()", request))
  })

  it("appendix B.2's digests", () => {
    assert.isTrue(isContentDigestOf(request.headers["content-digest"], body))
    assert.isTrue(isContentDigestOf(contentDigest(body), body))
    assert.isFalse(isContentDigestOf(contentDigest(body), utf8.encode("{}")))
    assert.isFalse(isContentDigestOf("md5=:Sd/dVLAcvNLSq16eXua5uQ==:", body))
    assert.isTrue(isDigestOf("unixsum=30637, sha-256=X48E9qOokqqrvdts8nOJRJN3OWDUoyWxBf7kbu9DBPE=", body))
    assert.isFalse(isDigestOf("", body))
  })
})
