import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { addressOf } from "../../../src/layers/storage/s3/Requests.ts"
import { encoded, sha256, signed } from "../../../src/layers/storage/s3/Signature.ts"

/*
 * Examples of "Signature Calculations for the Authorization Header: Transferring Payload in a Single Chunk", Amazon S3
 * API Reference.
 */

const signer = {
  accessKeyId: "AKIAIOSFODNN7EXAMPLE",
  secretAccessKey: Redacted.make("wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"),
  region: "us-east-1"
}
const at = new Date("2013-05-24T00:00:00Z")
const host = "examplebucket.s3.amazonaws.com"

const examples = [
  {
    name: "GET object",
    method: "GET",
    path: "/test.txt",
    headers: { range: "bytes=0-9" },
    body: "",
    names: "host;range;x-amz-content-sha256;x-amz-date",
    signature: "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"
  },
  {
    name: "PUT object",
    method: "PUT",
    path: "/test%24file.text",
    headers: { date: "Fri, 24 May 2013 00:00:00 GMT", "x-amz-storage-class": "REDUCED_REDUNDANCY" },
    body: "Welcome to Amazon S3.",
    names: "date;host;x-amz-content-sha256;x-amz-date;x-amz-storage-class",
    signature: "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd"
  },
  {
    name: "GET bucket lifecycle",
    method: "GET",
    path: "/?lifecycle",
    headers: {},
    body: "",
    names: "host;x-amz-content-sha256;x-amz-date",
    signature: "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"
  },
  {
    name: "GET bucket (list objects)",
    method: "GET",
    path: "/?max-keys=2&prefix=J",
    headers: {},
    body: "",
    names: "host;x-amz-content-sha256;x-amz-date",
    signature: "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"
  }
]

describe("AWS Signature Version 4", () => {
  for (const { body, headers, method, name, names, path, signature } of examples) {
    it.effect(`signs the published example: ${name}`, () =>
      Effect.gen(function*() {
        const url = new URL(`https://${host}${path}`)
        const all = yield* signed(signer, { method, url, headers, bodyHash: sha256(body) }, at)
        assert.strictEqual(
          all["authorization"],
          `AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request, SignedHeaders=${names}, ` +
            `Signature=${signature}`
        )
        assert.strictEqual(all["x-amz-date"], "20130524T000000Z")
        assert.strictEqual(all["x-amz-content-sha256"], sha256(body))
      }))
  }

  it("encodes by RFC 3986", () => {
    assert.strictEqual(encoded("a b/c~d'e(f)*!é+="), "a%20b%2Fc~d%27e%28f%29%2A%21%C3%A9%2B%3D")
  })

  it("finds an object by the path of the bucket, or by its host", () => {
    const key = "ab/abcd.png"
    const at = (endpoint: string, pathStyle: boolean, query = {}) =>
      addressOf({ bucket: "files", endpoint, pathStyle }, { method: "GET", key, query }).href
    assert.strictEqual(at("https://s3.example.org", true), "https://s3.example.org/files/ab/abcd.png")
    assert.strictEqual(at("http://127.0.0.1:9000/base", true), "http://127.0.0.1:9000/base/files/ab/abcd.png")
    assert.strictEqual(at("https://s3.example.org", false), "https://files.s3.example.org/ab/abcd.png")
    assert.strictEqual(
      at("https://s3.example.org", false, { uploadId: "a b+c" }),
      "https://files.s3.example.org/ab/abcd.png?uploadId=a%20b%2Bc"
    )
    assert.strictEqual(
      addressOf({ bucket: "files", endpoint: "https://s3.example.org", pathStyle: true }, { method: "GET" }).href,
      "https://s3.example.org/files"
    )
  })
})
