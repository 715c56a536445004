import { NodeServices } from "@effect/platform-node"
import { assert, layer } from "@effect/vitest"
import { Context, Effect, FileSystem, Layer } from "effect"
import { randomBytes } from "node:crypto"
import * as Storages from "../../../src/layers/storage/Storages.ts"
import { Storage } from "../../../src/services/media/Storage.ts"
import { s3Double } from "../../support/S3Double.ts"
import { testEnvironment } from "../../support/TestEnvironment.ts"
import { bytesOf, contract, newName, pieces } from "./contract.ts"

/** Maximum size of a single request, and minimum size of a file with two parts, in bytes. */
const partBytes = 8 * 1_048_576
const severalParts = partBytes + 1

/** Builds the storage of a server with these variables, in its own folder. */
const storageOf = (variables: Record<string, string>) =>
  Layer.unwrap(Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const dataDir = yield* fs.makeTempDirectoryScoped({ prefix: "murmuration-storage-" })
    return Layer.fresh(Storages.layer).pipe(Layer.provide(testEnvironment({ ...variables, DATA_DIR: dataDir })))
  })).pipe(Layer.provideMerge(NodeServices.layer))

class Double extends Context.Service<Double, Effect.Success<typeof s3Double>>()("test/S3Double") {
  static readonly layer = Layer.effect(Double, s3Double)
}

const s3 = Layer.unwrap(Effect.map(Double, ({ variables }) => storageOf(variables))).pipe(
  Layer.provideMerge(Double.layer)
)

layer(storageOf({}), { excludeTestServices: true })("files on disk", (it) => {
  for (const [name, effect] of Object.entries(contract)) it.effect(name, () => effect)
})

layer(s3, { excludeTestServices: true })("files in a bucket", (it) => {
  for (const [name, effect] of Object.entries(contract)) it.effect(name, () => effect)

  it.effect("row 46: serves each file like our own route; hidden files are not served", () =>
    Effect.gen(function*() {
      const storage = yield* Storage
      const { objects } = yield* Double
      const [shown, large, raw] = [newName("webp"), newName("mp4"), newName("upload")]
      yield* storage.write(shown, pieces(randomBytes(100)))
      yield* storage.write(large, pieces(randomBytes(severalParts), 1_000_000))
      yield* storage.write(raw, pieces(new TextEncoder().encode("<script>")))
      const cached = "public, max-age=31536000, immutable"
      assert.deepStrictEqual(objects.get(shown)?.headers, { "content-type": "image/webp", "cache-control": cached })
      assert.deepStrictEqual(objects.get(large)?.headers, { "content-type": "video/mp4", "cache-control": cached })
      assert.deepStrictEqual(objects.get(raw)?.headers, {
        "content-type": "application/octet-stream",
        "content-disposition": "attachment",
        "cache-control": cached
      })
      yield* Effect.forEach([shown, large, raw], storage.remove)
    }))

  it.effect("a file of 8 MB is one request, a larger one has parts, which are removed when it fails", () =>
    Effect.gen(function*() {
      const storage = yield* Storage
      const double = yield* Double
      const [small, large] = [newName("mp4"), newName("mp4")]
      const before = double.requests.length
      yield* storage.write(small, pieces(randomBytes(partBytes), 1_000_000))
      assert.deepStrictEqual(double.requests.slice(before), [`PUT /files/${small}`])

      // Busy once for each of two parts: retried, and complete in the end.
      double.fail(`PUT /files/${large}?partNumber=2`, 503, "break")
      double.fail(`POST /files/${large}?uploadId`, 500)
      const bytes = randomBytes(2 * partBytes + 123)
      yield* storage.write(large, pieces(bytes, 1_000_000))
      assert.isTrue((yield* bytesOf(large, 0, bytes.length)).equals(bytes))

      const lost = newName("mp4")
      double.fail(`PUT /files/${lost}?partNumber=3`, 503, 503, 503, 503)
      const error = yield* Effect.flip(storage.write(lost, pieces(bytes, 1_000_000)))
      assert.include(error.message, "SlowDown")
      assert.strictEqual(double.uploads.size, 0)
      assert.isFalse(double.objects.has(lost))
      yield* Effect.forEach([small, large], storage.remove)
    }))

  it.effect("an upload whose completion got no response counts as done", () =>
    Effect.gen(function*() {
      const storage = yield* Storage
      const double = yield* Double
      const [name, bytes] = [newName("mp4"), randomBytes(severalParts)]
      double.loseResponseTo(`POST /files/${name}?uploadId`)
      yield* storage.write(name, pieces(bytes, 1_000_000))
      assert.strictEqual(yield* storage.size(name), bytes.length)
      yield* storage.remove(name)
    }))

  it.effect("removal covers half-sent uploads of a killed process", () =>
    Effect.gen(function*() {
      const storage = yield* Storage
      const { uploads } = yield* Double
      const name = newName("mp4")
      uploads.set("left", { key: name, headers: {}, parts: new Map() })
      uploads.set("other", { key: `${name}.other`, headers: {}, parts: new Map() })
      yield* storage.remove(name)
      assert.deepStrictEqual([...uploads.keys()], ["other"])
      uploads.clear()
    }))

  it.effect("sixteen large concurrent files: only a few parts are in flight", () =>
    Effect.gen(function*() {
      const storage = yield* Storage
      const double = yield* Double
      const names = Array.from({ length: 16 }, () => newName("mp4"))
      const bytes = randomBytes(severalParts)
      yield* Effect.forEach(names, (name) => storage.write(name, pieces(bytes, 1_000_000)), {
        concurrency: "unbounded"
      })
      assert.isAtMost(double.bytesAtOnce(), 4 * partBytes)
      yield* Effect.forEach(names, storage.remove)
      assert.strictEqual(double.objects.size, 0)
    }))

  it.effect("row 82: errors of S3 are quoted, never with a secret", () =>
    Effect.gen(function*() {
      const { variables } = yield* Double
      const secret = "not-the-right-secret-of-the-bucket"
      const attempts = [
        [{ S3_SECRET_ACCESS_KEY: secret }, "SignatureDoesNotMatch"],
        [{ S3_REGION: "elsewhere" }, "AuthorizationHeaderMalformed"],
        [{ S3_BUCKET: "another" }, "NoSuchBucket"]
      ] as const
      for (const [wrong, code] of attempts) {
        const error = yield* Effect.flatMap(Storage, ({ write }) => write(newName(), pieces(randomBytes(3)))).pipe(
          Effect.provide(Layer.fresh(storageOf({ ...variables, ...wrong }))),
          Effect.flip
        )
        assert.include(error.message, code)
        assert.notInclude(JSON.stringify(error), secret)
      }
    }))
})
