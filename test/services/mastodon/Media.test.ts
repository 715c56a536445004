import { assert, layer } from "@effect/vitest"
import { Effect, FileSystem } from "effect"
import { SqlClient } from "effect/sql"
import { placeOf } from "../../../src/services/mastodon/tables/MediaCopy.ts"
import { json } from "../../support/Api.ts"
import { cli } from "../../support/CommandLine.ts"
import {
  argumentsOf,
  idOf,
  mediaOf,
  putFile,
  rejected,
  servers,
  source,
  transfer,
  transferred
} from "../../support/mastodon/Copies.ts"
import { s3Double } from "../../support/S3Double.ts"
import { TestServer } from "../../support/Server.ts"

layer(servers, { excludeTestServices: true })("files of a Mastodon server", (it) => {
  it.effect("F426: a media folder that does not exist, or is not Mastodon's, is refused before each file counts as missing", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const from = yield* source("4.5")
      for (const folder of [`${from.folder}/gone`, from.folder]) {
        const refused = yield* transfer(from, "copy", "--media", folder)
        assert.strictEqual(refused.code, 1)
        assert.include(refused.err, `--media ${folder} has none of Mastodon's folders`)
      }
      assert.deepStrictEqual(yield* sql`SELECT FROM transfer_cursors`, [])
    }))

  it.effect("have paths by their ids in groups of three digits", () =>
    Effect.sync(() => {
      const at = (id: string) => placeOf("media_attachments/files", id, "small", "a.png")
      assert.strictEqual(at("7"), "media_attachments/files/000/000/007/small/a.png")
      assert.strictEqual(at("1234567890"), "media_attachments/files/001/234/567/890/small/a.png")
      assert.strictEqual(at("109876543210987654"), "media_attachments/files/109/876/543/210/987/654/small/a.png")
      assert.strictEqual(at("98765432109876543"), "media_attachments/files/987/654/321/098/765/small/a.png")
    }))

  it.effect("F261, F398: are copied with their posts and accounts, including a changed picture; missing or unsafe ones do not stop it", () =>
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
        {
          ...attached,
          id: idOf(21),
          type: 2,
          fileFileName: "film.mp4",
          fileMeta: "[]",
          thumbnailFileName: "cover.jpeg"
        },
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
      const coverAt = placeOf("media_attachments/thumbnails", String(idOf(21)), "original", "cover.jpeg")
      yield* putFile(from, coverAt, "cover of the film")
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
      assert.deepStrictEqual(yield* contentOf(film.preview_url), ["image/jpeg", "cover of the film"])
      assert.strictEqual((yield* fetch(`/system/${coverAt}`, { redirect: "manual" })).status, 302)
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

  it.effect("are copied from a bucket with Mastodon's own keys; a bucket that does not respond loses none; F481: one of the same service copies them itself, even after it was busy", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const sql = yield* SqlClient.SqlClient
      const { baseUrl, fetch } = yield* TestServer
      const bucket = yield* s3Double
      const from = yield* source("4.5")
      const eve = yield* from.person(idOf(50_001), "eve", {
        account: { avatarFileName: "me.png", headerFileName: "../../../../../secret.png" }
      })
      const attached = { accountId: eve.id, statusId: idOf(50_010), type: 0 }
      yield* from.insert(
        "media_attachments",
        { ...attached, id: idOf(50_020), fileFileName: "bird & bee.jpeg", fileMeta: "{}" },
        { ...attached, id: idOf(50_021), fileFileName: "gone.png" }
      )
      yield* from.insert("statuses", { id: idOf(50_010), accountId: eve.id, local: true, text: "in a bucket" })
      const put = (name: string, text: string) =>
        bucket.objects.set(`old/system/${name}`, { body: Buffer.from(text), tag: "\"tag\"", headers: {} })
      const at = (style: string) => placeOf("media_attachments/files", String(idOf(50_020)), style, "bird & bee.jpeg")
      put(placeOf("accounts/avatars", String(eve.id), "original", "me.png"), "a face")
      put(at("original"), "whole bird")
      put(at("small"), "small bird")
      bucket.objects.set("secret.png", { body: Buffer.from("secret"), tag: "\"tag\"", headers: {} })

      const { variables } = bucket
      const withoutKeys = yield* transfer(from, "copy", "--media", `s3://${variables.S3_BUCKET}/old/system`)
      assert.strictEqual(withoutKeys.code, 1)
      assert.include(withoutKeys.err, "The environment file has no AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY")
      yield* fs.writeFileString(
        from.env,
        `${yield* fs.readFileString(from.env)}\n${
          Object.entries({
            AWS_ACCESS_KEY_ID: variables.S3_ACCESS_KEY_ID,
            AWS_SECRET_ACCESS_KEY: variables.S3_SECRET_ACCESS_KEY,
            S3_ENDPOINT: variables.S3_ENDPOINT,
            S3_REGION: variables.S3_REGION,
            S3_KEY_PREFIX: "old/system"
          }).map(([name, value]) => `${name}="${value}"`).join("\n")
        }\n`
      )
      // The prefix of the environment file is used without one in the URL.
      const media = ["--media", `s3://${variables.S3_BUCKET}`]
      // Another server than before.
      yield* sql`DELETE FROM transfer_cursors WHERE step <> 'roles'`
      const faces = `GET /${variables.S3_BUCKET}/old/system/accounts/avatars`
      bucket.fail(faces, ...Array.from({ length: 4 }, () => 503))
      const refused = yield* transfer(from, "copy", ...media)
      assert.strictEqual(refused.code, 1)
      assert.match(refused.err, /^A file could not be copied: S3 responded to GET with 503: SlowDown/)
      bucket.fail(faces, "break")
      yield* transferred(from, "copy", ...media)
      const lost = (yield* rejected(from)).filter((one) => BigInt(one.split(" ")[1] ?? "0") > idOf(50_000))
      assert.deepStrictEqual(lost, [`attachments ${idOf(50_021)}`, `headers ${eve.id}`])
      const status = yield* json({ token: "token-of-ada" }, `/api/v1/statuses/${idOf(50_010)}`)
      const textAt = (url: string) =>
        Effect.flatMap(fetch(url.replace(baseUrl, "")), (response) => Effect.promise(() => response.text()))
      assert.lengthOf(status.media_attachments, 1)
      assert.strictEqual(yield* textAt(status.media_attachments[0].url), "whole bird")
      assert.strictEqual(yield* textAt(status.media_attachments[0].preview_url), "small bird")
      assert.strictEqual(yield* textAt(status.account.avatar), "a face")
      assert.isFalse(bucket.requests.some((line) => line.includes("secret") || !/^(?:GET|HEAD) /.test(line)))
      const unknown = yield* transfer(from, "delta", "--media", "s3://another")
      assert.deepStrictEqual([unknown.code, unknown.err], [1, "There is no bucket another.\n"])
      const elsewhere = yield* transfer(from, "delta", "--media", `s3://${variables.S3_BUCKET}/other`)
      assert.deepStrictEqual([elsewhere.code, elsewhere.err], [1, "The bucket files has no files below other/\n"])

      // When this server stores its own files in the same service, they are copied there. One that it may not read is downloaded.
      const { variables: server } = yield* TestServer
      yield* sql`DELETE FROM transfer_cursors WHERE step <> 'roles'`
      yield* sql`DELETE FROM media_attachments WHERE account_id = ${eve.id}`
      const face = `old/system/${placeOf("accounts/avatars", String(eve.id), "original", "me.png")}`
      bucket.objects.set(face, { ...bucket.objects.get(face)!, headers: { "x-amz-acl": "secret" } })
      bucket.requests.length = 0
      const args = argumentsOf(from, "copy", "--overwrite", ...media)
      assert.deepInclude(yield* cli(args, { ...server, ...variables }), { code: 0, err: "" })
      const gets = bucket.requests.filter((line) => line.startsWith("GET ") && line.includes("/old/system/"))
      assert.deepStrictEqual(gets, [`GET /${variables.S3_BUCKET}/${face}`])
      const own = [...bucket.objects].filter(([key]) => !key.startsWith("old/") && key !== "secret.png")
      assert.sameMembers(own.map(([, { body }]) => body.toString()), ["whole bird", "small bird", "a face"])
      for (const [, { headers }] of own) assert.match(headers["content-type"] ?? "", /^image\/(?:jpeg|png)$/)
      const [attachment] = yield* sql<{ fileName: string }>`SELECT file_name FROM media_attachments
        WHERE account_id = ${eve.id}`
      assert.strictEqual(bucket.objects.get(attachment!.fileName)?.body.toString(), "whole bird")

      // Copies that fail because the service is busy are downloaded, and are no refusals: the next are copied again.
      yield* sql`DELETE FROM transfer_cursors WHERE step <> 'roles'`
      yield* sql`DELETE FROM media_attachments WHERE account_id = ${eve.id}`
      bucket.objects.set(face, { ...bucket.objects.get(face)!, headers: {} })
      const more = Array.from({ length: 12 }, (_, n) => 50_030 + n)
      yield* from.insert(
        "media_attachments",
        ...more.map((n) => ({ ...attached, id: idOf(n), fileFileName: "more.jpeg", fileMeta: "{}" }))
      )
      const moreAt = (n: number) => placeOf("media_attachments/files", String(idOf(n)), "original", "more.jpeg")
      for (const n of more) put(moreAt(n), `more ${n}`)
      bucket.requests.length = 0
      // Four copies fail with four attempts each before the last of the three beside them has had all of its own.
      const copiesMax = 4 + 3
      bucket.fail("COPY ", ...Array.from({ length: 4 * copiesMax }, () => 503))
      assert.deepInclude(yield* cli(args, { ...server, ...variables }), { code: 0, err: "" })
      const downloaded = bucket.requests.filter((line) => line.startsWith("GET ") && line.includes("/old/system/"))
      assert.isAtLeast(downloaded.length, 4)
      assert.isAtMost(downloaded.length, copiesMax)
      const kept = [...bucket.objects].filter(([key]) => !key.startsWith("old/")).map(([, { body }]) => body.toString())
      for (const n of more) assert.include(kept, `more ${n}`)
    }))
})
