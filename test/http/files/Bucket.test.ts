import { assert, layer } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { call } from "../../support/Api.ts"
import { blob, bytesAt, form, picture, uploaded } from "../../support/MediaFiles.ts"
import { s3Double } from "../../support/S3Double.ts"
import { TestServer } from "../../support/Server.ts"

class Double extends Context.Service<Double, Effect.Success<typeof s3Double>>()("test/S3Double") {
  static readonly layer = Layer.effect(Double, s3Double)
}

const Server = Layer.unwrap(Effect.map(Double, ({ variables }) => TestServer.layer(variables))).pipe(
  Layer.provideMerge(Double.layer)
)

layer(Server, { excludeTestServices: true })("a server with its files in a bucket", (it) => {
  it.effect("stores uploads and profile pictures there, serves them with ranges, and removes them", () =>
    Effect.gen(function*() {
      const { objects, uploads } = yield* Double
      const ada = yield* (yield* TestServer).createPerson("ada")
      const png = yield* Effect.promise(() => picture(600, 400).png().toBuffer())
      const media = yield* uploaded(ada, png, { description: "look" })
      const { body: account } = yield* call(
        "PATCH",
        "/api/v1/accounts/update_credentials",
        ada.token,
        form({ avatar: blob(png) })
      )
      const keyOf = (url: string) => new URL(url).pathname.slice("/system/".length)
      for (const url of [media.url, media.preview_url, account.avatar]) {
        const { bytes, headers, status } = yield* bytesAt(url)
        assert.deepStrictEqual([status, headers.get("content-type")], [200, "image/png"])
        assert.isTrue(objects.get(keyOf(url))?.body.equals(bytes))
      }
      const part = yield* bytesAt(media.url, { range: "bytes=1-3" })
      assert.deepStrictEqual([part.status, Buffer.from(part.bytes).toString()], [206, "PNG"])
      // The upload is deleted with the job; only the renditions remain.
      const sql = yield* SqlClient.SqlClient
      const ledger = yield* sql<{ name: string }>`SELECT name FROM stored_files ORDER BY name`
      assert.deepStrictEqual([...objects.keys()].sort(), ledger.map(({ name }) => name))
      assert.lengthOf(ledger, 3)
      yield* call("DELETE", `/api/v1/media/${media.id}`, ada.token)
      yield* call("DELETE", "/api/v1/profile/avatar", ada.token)
      assert.deepStrictEqual([objects.size, uploads.size], [0, 0])
    }))

  it.effect("uploads and reads of files get 503 while the bucket does not respond, and work again afterwards", () =>
    Effect.gen(function*() {
      const double = yield* Double
      const bob = yield* (yield* TestServer).createPerson("bob")
      const png = yield* Effect.promise(() => picture().png().toBuffer())
      const { url } = yield* uploaded(bob, png)
      double.fail("HEAD", 503, 503, 503, 503)
      const shown = yield* bytesAt(url)
      assert.deepStrictEqual([shown.status, shown.headers.get("retry-after")], [503, "5"])
      double.fail("PUT", 503, 503, 503, 503)
      const refused = yield* call("POST", "/api/v1/media", bob.token, form({ file: blob(png) }))
      assert.strictEqual(refused.status, 503)
      assert.strictEqual((yield* bytesAt(url)).status, 200)
      yield* uploaded(bob, png)
    }))
})
