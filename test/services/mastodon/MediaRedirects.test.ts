import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { placeOf } from "../../../src/services/mastodon/tables/MediaCopy.ts"
import { call } from "../../support/Api.ts"
import { cli } from "../../support/CommandLine.ts"
import { eventually } from "../../support/Eventually.ts"
import { idOf, mediaOf, putFile, servers, source, transferred } from "../../support/mastodon/Copies.ts"
import { TestServer } from "../../support/Server.ts"

const attachmentAt = (id: number, style: string, file: string) =>
  placeOf("media_attachments/files", String(idOf(id)), style, file)

/** Fetches a path of the old server; returns the status, the cache rule and the text behind a redirect. */
const fetched = Effect.fnUntraced(function*(path: string) {
  const { fetch } = yield* TestServer
  const { headers, status } = yield* fetch(`/system/${path}`, { redirect: "manual" })
  const to = headers.get("location")
  if (to === null) return { status }
  const { pathname } = new URL(to)
  const file = yield* fetch(pathname)
  const text = yield* Effect.promise(() => file.text())
  return { status, rule: headers.get("cache-control"), origin: headers.get("access-control-allow-origin"), text }
})

const found = (text: string) => ({ status: 302, rule: "public, max-age=86400", origin: "*", text })

layer(servers, { excludeTestServices: true })("paths of files at Mastodon", (it) => {
  it.effect("F396: lead to the copied files, until the files are deleted", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { variables } = yield* TestServer
      const from = yield* source("4.5")
      const ada = yield* from.person(idOf(1), "ada", {
        account: { avatarFileName: "me.gif", headerFileName: "sea.jpeg" }
      })
      yield* from.token(ada, "read write")
      const pictureAt = (kind: string, style: string, file: string) =>
        placeOf(`accounts/${kind}s`, String(ada.id), style, file)
      yield* from.insert("custom_emojis", { id: 7n, shortcode: "party", imageFileName: "party.png" })
      yield* from.insert("media_attachments", {
        id: idOf(20),
        accountId: ada.id,
        statusId: idOf(10),
        type: 0,
        fileFileName: "bird & bée.jpeg",
        fileMeta: "{}"
      })
      yield* from.insert("statuses", { id: idOf(10), accountId: ada.id, local: true, text: "with a file" })
      const copied = new Map([
        [pictureAt("avatar", "original", "me.gif"), "moving"],
        [pictureAt("avatar", "static", "me.png"), "still"],
        [pictureAt("header", "original", "sea.jpeg"), "the sea"],
        [placeOf("custom_emojis/images", "7", "original", "party.png"), "a party"],
        [attachmentAt(20, "original", "bird & bée.jpeg"), "whole bird"],
        [attachmentAt(20, "small", "bird & bée.jpeg"), "small bird"]
      ])
      yield* Effect.forEach(copied, ([path, text]) => putFile(from, path, text), { discard: true })
      yield* transferred(from, "copy", "--media", mediaOf(from))
      for (const [path, text] of copied) assert.deepStrictEqual(yield* fetched(encodeURI(path)), found(text), path)
      assert.deepStrictEqual(
        yield* fetched(`${placeOf("custom_emojis/images", "7", "static", "party.png")}?1700000000`),
        found("a party"),
        "Mastodon names a still of every emoji"
      )
      const { rule, status } = yield* fetched(pictureAt("avatar", "original", "other.gif"))
      assert.deepStrictEqual({ rule, status }, { rule: undefined, status: 404 })

      yield* putFile(from, pictureAt("avatar", "original", "new.png"), "new face")
      yield* from.sql`UPDATE accounts SET avatar_file_name = 'new.png', updated_at = ${new Date()} WHERE id = ${ada.id}`
      yield* transferred(from, "delta", "--media", mediaOf(from))
      assert.deepStrictEqual(yield* fetched(pictureAt("avatar", "original", "new.png")), found("new face"))

      assert.strictEqual(
        (yield* call("DELETE", `/api/v1/statuses/${idOf(10)}?delete_media=true`, "token-of-ada")).status,
        200
      )
      const unheld = sql.literal("media_id IS NULL AND account_id IS NULL AND emoji_id IS NULL")
      // Three of the pictures before the delta, and two of the post.
      yield* eventually(
        sql`UPDATE stored_files SET created_at = ${new Date(0)} WHERE ${unheld} RETURNING name`,
        (rows) => rows.length === 5
      )
      yield* cli(["media", "prune"], variables)
      assert.deepStrictEqual(yield* fetched(encodeURI(attachmentAt(20, "original", "bird & bée.jpeg"))), {
        status: 404
      })
      assert.deepStrictEqual(yield* fetched(pictureAt("header", "original", "sea.jpeg")), found("the sea"))
      yield* sql`UPDATE stored_files SET doomed_at = ${new Date(0)} WHERE doomed_at IS NOT NULL`
      yield* cli(["media", "prune"], variables)
      assert.deepStrictEqual(
        yield* sql`SELECT DISTINCT split_part(path, '/', 2) AS kind FROM media_redirects ORDER BY kind`,
        [{ kind: "avatars" }, { kind: "headers" }, { kind: "images" }]
      )
    }))

  it.effect("F396: are looked up only where Mastodon stored files", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const name = `ab/${"a".repeat(32)}.png`
      yield* sql`INSERT INTO stored_files (name, created_at) VALUES (${name}, ${new Date()})`
      const place = "accounts/avatars/000/000/001/original"
      const inside = `${place}/${"a".repeat(255)}`
      const outside = [
        `${place}/${"a".repeat(256)}`,
        `cache/${place}/a.png`,
        `${place}/a/b.png`,
        "accounts/avatars/000/001/original/a.png",
        "accounts/avatars/000/000/001/large/a.png"
      ]
      for (
        const path of [inside, ...outside]
      ) yield* sql`INSERT INTO media_redirects (path, name) VALUES (${path}, ${name})`
      const statusOf = (path: string) => Effect.map(fetched(path), ({ status }) => status)
      assert.strictEqual(yield* statusOf(inside), 302)
      for (const path of [...outside, `${place}/%E0%A4%A`, `${place}/%00`]) {
        assert.strictEqual(yield* statusOf(path), 404, path)
      }
    }))
})
