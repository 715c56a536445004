import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import sharp from "sharp"
import { MediaAttachment } from "../../../src/http/wire/MediaAttachment.ts"
import { call } from "../../support/Api.ts"
import { blob, bytesAt, form, picture, uploaded } from "../../support/MediaFiles.ts"
import { TestServer } from "../../support/Server.ts"

const files = Effect.flatMap(SqlClient.SqlClient, (sql) => sql<{ name: string }>`SELECT name FROM stored_files`)

layer(TestServer.layer(), { excludeTestServices: true })("media", (it) => {
  it.effect("S-146 S-075: a picture becomes an original and a preview with figures, blurhash, focus and description", () =>
    Effect.gen(function*() {
      const ada = yield* (yield* TestServer).createPerson("ada")
      const jpeg = yield* Effect.promise(() => picture(1200, 900).jpeg().toBuffer())
      const { body, headers, status } = yield* call(
        "POST",
        "/api/v2/media",
        ada.token,
        form({ file: blob(jpeg), description: " A house ", focus: "0.5,-2" })
      )
      assert.strictEqual(status, 200)
      assert.strictEqual(headers.get("deprecation"), null)
      yield* Schema.decodeUnknownEffect(MediaAttachment, { onExcessProperty: "error" })(body)
      assert.deepInclude(body, { type: "image", description: "A house", remote_url: null, text_url: null })
      assert.deepStrictEqual(body.meta, {
        original: { width: 1200, height: 900, size: "1200x900", aspect: 1200 / 900 },
        small: { width: 554, height: 416, size: "554x416", aspect: 554 / 416 },
        focus: { x: 0.5, y: -1 }
      })
      assert.match(body.blurhash, /^[\w#$%*+,\-.:;=?@[\]^{|}~]{36}$/)
      for (const [url, width] of [[body.url, 1200], [body.preview_url, 554]] as const) {
        const { bytes, headers } = yield* bytesAt(url)
        assert.strictEqual(headers.get("content-type"), "image/jpeg")
        assert.strictEqual((yield* Effect.promise(() => sharp(bytes).metadata())).width, width)
      }
      const again = yield* call("GET", `/api/v1/media/${body.id}`, ada.token)
      assert.deepStrictEqual([again.status, again.body], [200, body])
    }))

  it.effect("S-070 S-071 S-148: PUT changes the description until a post has the file; the older upload is marked deprecated", () =>
    Effect.gen(function*() {
      const bob = yield* (yield* TestServer).createPerson("bob")
      const png = yield* Effect.promise(() => picture().png().toBuffer())
      const created = yield* call("POST", "/api/v1/media", bob.token, form({ file: blob(png) }))
      assert.strictEqual(created.headers.get("deprecation"), "@1586044800")
      assert.deepInclude(created.body, { description: null })
      const path = `/api/v1/media/${created.body.id}`
      const changed = yield* call("PUT", path, bob.token, { description: "words", focus: "0.1,0.2" })
      assert.deepInclude(changed.body, { id: created.body.id, description: "words" })
      assert.deepStrictEqual(changed.body.meta.focus, { x: 0.1, y: 0.2 })
      const tooLong = yield* call("PUT", path, bob.token, { description: "x".repeat(10_001) })
      assert.deepStrictEqual([tooLong.status, tooLong.body.error], [
        422,
        "Validation failed: Description is too long (maximum is 10000 characters)"
      ])
    }))

  it.effect("base64 as a data URI, in JSON and in a form", () =>
    Effect.gen(function*() {
      const cleo = yield* (yield* TestServer).createPerson("cleo")
      const png = yield* Effect.promise(() => picture(100, 100).png().toBuffer())
      const file = `data:image/png;base64,${png.toString("base64")}`
      for (const body of [{ file }, form({ file })]) {
        const { body: created, status } = yield* call("POST", "/api/v2/media", cleo.token, body)
        assert.strictEqual(status, 200)
        assert.strictEqual(created.meta.original.size, "100x100")
      }
    }))

  it.effect("row 50: media of others, and unguessable names", () =>
    Effect.gen(function*() {
      const { createPerson } = yield* TestServer
      const [dora, eve] = [yield* createPerson("dora"), yield* createPerson("eve")]
      const { id, url } = yield* uploaded(dora, yield* Effect.promise(() => picture().webp().toBuffer()))
      for (const method of ["GET", "PUT", "DELETE"]) {
        const { status } = yield* call(method, `/api/v1/media/${id}`, eve.token, method === "GET" ? undefined : {})
        assert.strictEqual(status, 404, method)
      }
      // 32 characters of 5 bits each.
      assert.match(url, /\/system\/([0-9a-v]{2})\/\1[0-9a-v]{30}\.webp$/)
    }))

  it.effect("a deleted file is gone, with its bytes and its row", () =>
    Effect.gen(function*() {
      const fay = yield* (yield* TestServer).createPerson("fay")
      const before = (yield* files).length
      const { id, preview_url, url } = yield* uploaded(fay, yield* Effect.promise(() => picture().png().toBuffer()))
      assert.strictEqual((yield* files).length, before + 2)
      assert.deepInclude(yield* call("DELETE", `/api/v1/media/${id}`, fay.token), { status: 200, body: {} })
      for (const one of [url, preview_url]) assert.strictEqual((yield* bytesAt(one)).status, 404)
      assert.strictEqual((yield* files).length, before)
      assert.strictEqual((yield* call("GET", `/api/v1/media/${id}`, fay.token)).status, 404)
    }))

  it.effect("nothing is stored for a file without a user, without the scope, or of an unknown type", () =>
    Effect.gen(function*() {
      const { createPerson } = yield* TestServer
      const gil = yield* createPerson("gil", ["read"])
      const hal = yield* createPerson("hal")
      const before = (yield* files).length
      const body = () => form({ file: blob(new Uint8Array(200_000)) })
      assert.strictEqual((yield* call("POST", "/api/v2/media", undefined, body())).status, 401)
      assert.strictEqual((yield* call("POST", "/api/v2/media", gil.token, body())).status, 403)
      const unknown = yield* call("POST", "/api/v2/media", hal.token, body())
      assert.deepStrictEqual([unknown.status, unknown.body.error], [
        422,
        "File type of uploaded media could not be verified"
      ])
      const none = yield* call("POST", "/api/v2/media", hal.token, form({ description: "x" }))
      assert.deepStrictEqual([none.status, none.body.error], [422, "Validation failed: File can't be blank"])
      assert.strictEqual((yield* files).length, before)
    }))
})
