import { NodeServices } from "@effect/platform-node"
import { assert, layer } from "@effect/vitest"
import { Effect, FileSystem, Layer } from "effect"
import { TestClock } from "effect/testing"
import * as DatabaseClock from "../../src/layers/DatabaseClock.ts"
import { cli } from "../support/CommandLine.ts"
import { s3Double } from "../support/S3Double.ts"
import { TestDatabase } from "../support/TestDatabase.ts"

const Live = TestDatabase.layer.pipe(Layer.provideMerge(NodeServices.layer))

layer(Live, { excludeTestServices: true })("npm run cli -- doctor", (it) => {
  it.effect(
    "checks the file storage, and reports the bucket's error",
    () =>
      Effect.scoped(Effect.gen(function*() {
        const { url } = yield* TestDatabase
        const { variables } = yield* s3Double
        const fs = yield* FileSystem.FileSystem
        const dataDir = yield* fs.makeTempDirectoryScoped({ prefix: "murmuration-cli-" })
        const common = { DATABASE_URL: url, DATA_DIR: dataDir }
        const disk = yield* cli(["doctor"], common)
        assert.strictEqual(disk.code, 0, disk.out)
        assert.match(disk.out, /^ok {5}Clock: -?\d+ ms ahead of that of Postgres$/m)
        assert.include(disk.out, `ok     Files: ${dataDir}/media\n`)
        const bucket = yield* cli(["doctor"], { ...common, ...variables })
        assert.include(bucket.out, `ok     Files: bucket files at ${variables.S3_ENDPOINT}\n`)
        const secret = "another-secret-than-the-bucket's"
        const ill = yield* cli(["doctor"], { ...common, ...variables, S3_SECRET_ACCESS_KEY: secret })
        assert.strictEqual(ill.code, 1)
        assert.match(ill.out, /^FAIL {3}Files: S3 responded to GET with 403: SignatureDoesNotMatch/m)
        assert.notInclude(ill.out + ill.err, secret)
        const half = yield* cli(["doctor"], { ...common, S3_BUCKET: "files" })
        assert.match(half.err, /S3_ACCESS_KEY_ID: .*\n.*S3_SECRET_ACCESS_KEY: /)
      })),
    180_000
  )

  it.effect("F19: compares this machine's clock with that of Postgres", () =>
    Effect.gen(function*() {
      assert.isUndefined(DatabaseClock.complaint(yield* DatabaseClock.skew))
      yield* TestClock.setTime(Date.now() + 3_600_000)
      assert.match(
        DatabaseClock.complaint(yield* DatabaseClock.skew) ?? "",
        /^the clock of this machine is 3[56]\d\d s ahead of/
      )
      yield* TestClock.setTime(0)
      assert.match(
        DatabaseClock.complaint(yield* DatabaseClock.skew) ?? "",
        /^the clock of this machine is \d+ s behind/
      )
    }).pipe((test) =>
      Effect.andThen(
        Effect.map(DatabaseClock.skew, (millis) => assert.isBelow(Math.abs(millis), DatabaseClock.skewMillisMax)),
        Effect.provide(Effect.andThen(TestClock.setTime(Date.now()), test), TestClock.layer())
      )
    ))
})
