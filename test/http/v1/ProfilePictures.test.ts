import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import sharp from "sharp"
import { call } from "../../support/Api.ts"
import { blob, bytesAt, form, picture } from "../../support/MediaFiles.ts"
import { TestServer } from "../../support/Server.ts"

const path = "/api/v1/accounts/update_credentials"

const sizeAt = Effect.fnUntraced(function*(url: string) {
  const { bytes } = yield* bytesAt(url)
  const { format, height, pages, width } = yield* Effect.promise(() => sharp(bytes, { animated: true }).metadata())
  return { format, width, height, pages }
})

const animation = Effect.promise(async () => {
  const frames = await Promise.all(["#f00", "#0f0", "#00f"].map((colour) => picture(60, 40, colour).png().toBuffer()))
  return sharp(frames, { join: { animated: true } }).gif().toBuffer()
})

layer(TestServer.layer(), { excludeTestServices: true })("profile pictures", (it) => {
  it.effect("S-138: an avatar is a square, a header keeps its shape; pages and JSON show them; DELETE removes them", () =>
    Effect.gen(function*() {
      const { baseUrl, createPerson } = yield* TestServer
      const ada = yield* createPerson("ada")
      const avatar = blob(yield* Effect.promise(() => picture(900, 500).jpeg().toBuffer()))
      const header = blob(yield* Effect.promise(() => picture(3000, 1000).png().toBuffer()))
      const { body, status } = yield* call(
        "PATCH",
        path,
        ada.token,
        form({ avatar, header, display_name: "Ada", avatar_description: "me" })
      )
      assert.strictEqual(status, 200)
      assert.deepInclude(body, { display_name: "Ada", avatar_description: "me" })
      assert.deepInclude(yield* sizeAt(body.avatar), { format: "jpeg", width: 400, height: 400 })
      assert.deepInclude(yield* sizeAt(body.header), { format: "png", width: 1500, height: 500 })
      assert.deepStrictEqual([body.avatar_static, body.header_static], [body.avatar, body.header])
      const page = yield* Effect.promise(() => fetch(`${baseUrl}/@ada`).then((response) => response.text()))
      assert.include(page, body.avatar)
      assert.include(page, body.header_static)
      const finger = yield* call("GET", `/.well-known/webfinger?resource=acct:ada@${new URL(baseUrl).host}`, undefined)
      assert.deepInclude(finger.body.links, {
        rel: "http://webfinger.net/rel/avatar",
        type: "image/jpeg",
        href: body.avatar
      })

      const without = yield* call("DELETE", "/api/v1/profile/avatar", ada.token)
      assert.strictEqual(without.status, 200)
      assert.strictEqual(without.body.avatar, `${baseUrl}/avatars/original/missing.png`)
      assert.strictEqual(without.body.header, body.header)
      assert.strictEqual(without.body.avatar_description, "")
      assert.strictEqual((yield* bytesAt(body.avatar)).status, 404)
      yield* call("DELETE", "/api/v1/profile/header", ada.token)
      const sql = yield* SqlClient.SqlClient
      assert.deepStrictEqual(yield* sql`SELECT name FROM stored_files`, [])
    }))

  it.effect("an animated avatar has a still form; a new one replaces the old one and its files", () =>
    Effect.gen(function*() {
      const bob = yield* (yield* TestServer).createPerson("bob")
      const sql = yield* SqlClient.SqlClient
      const { body } = yield* call("PATCH", path, bob.token, form({ avatar: blob(yield* animation) }))
      assert.deepInclude(yield* sizeAt(body.avatar), { format: "gif", pages: 3 })
      assert.deepInclude(yield* sizeAt(body.avatar_static), { format: "png", width: 400, height: 400 })
      const png = yield* Effect.promise(() => picture(50, 50).png().toBuffer())
      const again = yield* call("PUT", path, bob.token, { avatar: `data:image/png;base64,${png.toString("base64")}` })
      assert.notStrictEqual(again.body.avatar, body.avatar)
      for (const url of [body.avatar, body.avatar_static]) assert.strictEqual((yield* bytesAt(url)).status, 404)
      assert.lengthOf(yield* sql`SELECT name FROM stored_files`, 1)
      const shown = yield* call("GET", `/api/v1/accounts/${bob.accountId}`, undefined)
      assert.strictEqual(shown.body.avatar, again.body.avatar)
    }))

  it.effect("refuses invalid and large pictures, and keeps nothing of them", () =>
    Effect.gen(function*() {
      const cleo = yield* (yield* TestServer).createPerson("cleo")
      const sql = yield* SqlClient.SqlClient
      const before = (yield* sql`SELECT name FROM stored_files`).length
      const svg = blob(new TextEncoder().encode(`<svg xmlns="http://www.w3.org/2000/svg"/>`))
      const refused = yield* call("PATCH", path, cleo.token, form({ avatar: svg }))
      assert.deepStrictEqual([refused.status, refused.body.error], [
        422,
        "Validation failed: Avatar content type is invalid, Avatar is invalid"
      ])
      const large = yield* call("PATCH", path, cleo.token, form({ header: blob(new Uint8Array(8_388_609)) }))
      assert.deepStrictEqual([large.status, large.body.error], [
        422,
        "Validation failed: File file size must be less than 8 MB"
      ])
      assert.lengthOf(yield* sql`SELECT name FROM stored_files`, before)
    }))
})
