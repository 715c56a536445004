import { assert, layer } from "@effect/vitest"
import { Effect, FileSystem } from "effect"
import { SqlClient } from "effect/sql"
import { placeOf } from "../../../src/services/mastodon/tables/Media.ts"
import { json } from "../../support/Api.ts"
import { idOf, mediaOf, putFile, rejected, servers, source, transferred } from "../../support/mastodon/Copies.ts"
import { TestServer } from "../../support/Server.ts"

layer(servers, { excludeTestServices: true, timeout: "3 minutes" })("files of a Mastodon server", (it) => {
  it.effect("have paths by their ids in groups of three digits", () =>
    Effect.sync(() => {
      const at = (id: string) => placeOf("media_attachments/files", id, "small", "a.png")
      assert.strictEqual(at("7"), "media_attachments/files/000/000/007/small/a.png")
      assert.strictEqual(at("1234567890"), "media_attachments/files/001/234/567/890/small/a.png")
      assert.strictEqual(at("109876543210987654"), "media_attachments/files/109/876/543/210/987/654/small/a.png")
      assert.strictEqual(at("98765432109876543"), "media_attachments/files/987/654/321/098/765/small/a.png")
    }))

  it.effect("F261: are copied with their posts and accounts, including a changed picture; missing or unsafe ones do not stop it", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const fs = yield* FileSystem.FileSystem
      const { baseUrl, fetch } = yield* TestServer
      const from = yield* source("4.5")
      const ada = yield* from.person(idOf(1), "ada", {
        account: { avatarFileName: "me.gif", headerFileName: "../../../../../.env.production" }
      })
      yield* putFile(from, placeOf("accounts/avatars", String(ada.id), "original", "me.gif"), "moving")
      yield* putFile(from, placeOf("accounts/avatars", String(ada.id), "static", "me.png"), "still")
      yield* from.token(ada, "read write")
      const attached = { accountId: ada.id, statusId: idOf(10) }
      const fileMeta = JSON.stringify({
        focus: { x: 0.5, y: -2 },
        original: { width: 640, height: 480, size: "640x480", aspect: 1.33 },
        small: { width: "x" }
      })
      yield* from.insert(
        "media_attachments",
        { ...attached, id: idOf(20), type: 0, description: "A bird", fileFileName: "bird.jpeg", fileMeta },
        { ...attached, id: idOf(21), type: 2, fileFileName: "film.mp4", fileMeta: "[]" },
        { ...attached, id: idOf(22), type: 0, fileFileName: "gone.png" },
        { ...attached, id: idOf(23), type: 0, fileFileName: "drawing.svg" },
        { ...attached, id: idOf(24), type: 0, fileFileName: "../../../../../../../../../.env.production" }
      )
      yield* from.insert("statuses", {
        id: idOf(10),
        accountId: ada.id,
        local: true,
        text: "with files",
        orderedMediaAttachmentIds: [21, 20, 22, 23, 24].map(idOf)
      })
      const at = (id: number, style: string, file: string) =>
        placeOf("media_attachments/files", String(idOf(id)), style, file)
      yield* putFile(from, at(20, "original", "bird.jpeg"), "whole bird")
      yield* putFile(from, at(20, "small", "bird.jpeg"), "small bird")
      yield* putFile(from, at(21, "original", "film.mp4"), "film")
      yield* putFile(from, at(21, "small", "film.png"), "frame of the film")
      yield* putFile(from, at(23, "original", "drawing.svg"), "<svg/>")
      const files = ["--media", mediaOf(from)]
      const withoutFiles = yield* transferred(from, "copy")
      assert.match(withoutFiles, /^attachments +not copied without --media$/m)
      yield* transferred(from, "copy", ...files)
      yield* transferred(from, "copy", ...files)
      assert.deepStrictEqual(
        yield* rejected(from),
        [...[22, 23, 24].map((n) => `attachments ${idOf(n)}`), `headers ${ada.id}`]
      )
      const status = yield* json({ token: "token-of-ada" }, `/api/v1/statuses/${idOf(10)}`)
      const contentOf = Effect.fnUntraced(function*(url: string) {
        const response = yield* fetch(url.replace(baseUrl, ""))
        return [response.headers.get("content-type"), yield* Effect.promise(() => response.text())]
      })
      const [film, bird, ...others] = status.media_attachments
      assert.deepStrictEqual(others, [])
      assert.deepInclude(film, { id: String(idOf(21)), type: "video" })
      assert.deepInclude(bird, { id: String(idOf(20)), type: "image", description: "A bird" })
      assert.deepStrictEqual(bird.meta, {
        original: { width: 640, height: 480, size: "640x480", aspect: 640 / 480 },
        focus: { x: 0.5, y: -1 }
      })
      assert.deepStrictEqual(yield* contentOf(bird.url), ["image/jpeg", "whole bird"])
      assert.deepStrictEqual(yield* contentOf(bird.preview_url), ["image/jpeg", "small bird"])
      assert.deepStrictEqual(yield* contentOf(film.url), ["video/mp4", "film"])
      assert.deepStrictEqual(yield* contentOf(film.preview_url), ["image/png", "frame of the film"])
      const { account } = status
      assert.deepStrictEqual(yield* contentOf(account.avatar), ["image/gif", "moving"])
      assert.deepStrictEqual(yield* contentOf(account.avatar_static), ["image/png", "still"])
      assert.deepStrictEqual(
        yield* sql`SELECT count(*)::int AS files FROM stored_files WHERE media_id IS NULL AND account_id IS NULL`,
        [{ files: 0 }]
      )
      assert.strictEqual(yield* fs.readFileString(`${mediaOf(from)}/${at(20, "original", "bird.jpeg")}`), "whole bird")

      yield* putFile(from, placeOf("accounts/avatars", String(ada.id), "original", "new.png"), "new face")
      yield* from.sql`UPDATE accounts SET avatar_file_name = 'new.png', updated_at = ${new Date()} WHERE id = ${ada.id}`
      yield* transferred(from, "delta", ...files)
      assert.deepStrictEqual(
        yield* sql`SELECT right(a.avatar_name, 4) AS kind, a.avatar_static_name AS still, (SELECT count(*)::int FROM stored_files
          WHERE account_id = a.id) AS held, (SELECT count(*)::int FROM stored_files WHERE media_id IS NULL AND account_id IS NULL) AS free
          FROM accounts a WHERE a.id = ${ada.id}`,
        [{ kind: ".png", still: null, held: 1, free: 2 }]
      )
    }))
})
