import { assert, layer } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { SqlClient } from "effect/sql"
import { gzipSync, strToU8, zipSync } from "fflate"
import sharp from "sharp"
import { emojiBytesMax } from "../../../../src/services/instance/ContentLimits.ts"
import { picturesIn, tarballWith } from "../../../../src/services/media/EmojiArchiveFiles.ts"
import { tarballOf } from "../../../../src/services/media/EmojiTarballs.ts"
import { administratorBrowser } from "../../../support/AdministratorBrowser.ts"
import { TestServer } from "../../../support/Server.ts"
import { auditEntries } from "../../../support/Staff.ts"
import { formsOf } from "../../../support/TestBrowser.ts"

/** Files of 200 kB whose total is a little more than the limit for an archive. */
const smallFiles = 170

const png = () =>
  Effect.promise(() =>
    sharp({ create: { width: 16, height: 16, channels: 4, background: "#c08040" } }).png().toBuffer()
  )

layer(TestServer.layer(), { excludeTestServices: true })("archives of emoji", (it) => {
  it.effect("S-093: an archive is imported, invalid pictures are reported, and the export has its list", () =>
    Effect.gen(function*() {
      const { accountId, browser } = yield* administratorBrowser("archivist")
      const { baseUrl, fetch } = yield* TestServer
      const picture = yield* png()
      const list = {
        emojis: [
          { fileName: "a.png", emoji: { name: "duck", category: "Birds" } },
          { fileName: "b.png", emoji: { name: "broken" } },
          { fileName: "missing.png", emoji: { name: "missing" } }
        ]
      }
      const archive = zipSync({
        "meta.json": strToU8(JSON.stringify(list)),
        "a.png": picture,
        "b.png": strToU8("no picture")
      })
      const page = yield* browser.get("/admin/custom_emojis/archive")
      const send = Effect.fnUntraced(function*(bytes: Uint8Array) {
        const form = new FormData()
        const token = formsOf({ ...page, text: page.text.replaceAll(` enctype="multipart/form-data"`, "") })
          .find(({ acts }) => acts.includes("import"))?.fields["authenticity_token"] ?? ""
        form.set("authenticity_token", token)
        form.set("act", "import")
        form.set("file", new Blob([new Uint8Array(bytes)]), "emoji.zip")
        return yield* browser.request("/admin/custom_emojis/archive", {
          method: "POST",
          body: form,
          headers: { origin: baseUrl }
        })
      })
      const done = yield* browser.follow(yield* send(archive))
      assert.include(done.text, "1 emoji was added, 1 skipped.")
      assert.include(done.text, ":duck:")
      const again = yield* browser.follow(yield* send(archive))
      assert.include(again.text, "Shortcode has already been taken")
      for (const bytes of [strToU8("nothing"), strToU8("PK\u0003\u0004xxxx"), archive.subarray(0, 60), zipSync({})]) {
        assert.strictEqual((yield* send(bytes)).status, 422)
      }
      const { status } = yield* browser.request("/admin/custom_emojis/export.tar.gz")
      assert.strictEqual(status, 200)
      const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join("; ")
      const file = yield* fetch("/admin/custom_emojis/export.zip", { headers: { cookie } })
      const out = (yield* picturesIn(new Uint8Array(yield* Effect.promise(() => file.arrayBuffer())))) ?? []
      assert.deepStrictEqual(out.map(({ category, shortcode }) => [shortcode, category]), [["duck", "Birds"]])
      const sql = yield* SqlClient.SqlClient
      assert.strictEqual((yield* sql`SELECT id FROM custom_emojis WHERE domain IS NULL`).length, 1)
      assert.includeMembers((yield* auditEntries(BigInt(accountId))).map(({ act }) => act), [
        "custom_emoji import",
        "custom_emoji export",
        "custom_emoji create"
      ])
    }))

  it.effect("S-093: a tar.gz from Mastodon's command line is read, and written", () =>
    Effect.gen(function*() {
      const picture = yield* png()
      const at = new Date(Date.UTC(2026, 10, 1))
      const names = Effect.fnUntraced(function*(files: ReadonlyArray<readonly [string, Uint8Array]>) {
        return (yield* picturesIn(yield* tarballOf(files, at)))?.map(({ shortcode }) => shortcode)
      })
      const long = `${"x".repeat(120)}/heron.gif`
      const odd: ReadonlyArray<readonly [string, Uint8Array]> = [
        ["duck.png", picture],
        ["._duck.png", picture],
        ["birds/owl.webp", picture],
        [long, picture],
        ["readme.txt", picture],
        ["large.png", new Uint8Array(emojiBytesMax + 1)],
        ["after.png", picture]
      ]
      assert.deepStrictEqual(yield* names(odd), ["duck", "owl", "heron", "after"])
      const out = yield* tarballWith(at, [{ shortcode: "duck", category: null, bytes: picture, fileName: "duck.png" }])
      const [duck] = (yield* picturesIn(out)) ?? []
      assert.isTrue(duck !== undefined && picture.equals(duck.bytes))
      // Not an archive, a truncated one, or one with a changed byte.
      const broken = Uint8Array.from(out)
      broken[Math.floor(out.length / 2)]! ^= 255
      for (const bytes of [gzipSync(strToU8("nothing")), out.subarray(0, 40), Uint8Array.of(0x1f, 0x8b)]) {
        const found = yield* picturesIn(bytes)
        assert.isTrue(found === undefined || found.length === 0)
      }
      yield* picturesIn(broken)
      const small = new Uint8Array(200_000)
      const bomb = yield* tarballOf(Array.from({ length: smallFiles }, (_, n) => [`small${n}.png`, small] as const), at)
      assert.isBelow(bomb.length, 1_000_000)
      assert.isUndefined(yield* picturesIn(bomb))
    }))

  it.effect("a compressed file that is too large is skipped, without holding it in memory", () =>
    Effect.gen(function*() {
      const bomb = zipSync({ "bomb.png": new Uint8Array(16 * 1_048_576), "fine.png": strToU8("x") })
      assert.isBelow(bomb.length, 200_000)
      assert.deepStrictEqual((yield* picturesIn(bomb))?.map(({ shortcode }) => shortcode), ["fine"])
    }))

  it.effect("row 48: an archive of many compressed files is refused, however small each is, and does not block others", () =>
    Effect.gen(function*() {
      const zeros = new Uint8Array(200_000)
      const bomb = zipSync(Object.fromEntries(Array.from({ length: smallFiles }, (_, n) => [`small${n}.png`, zeros])))
      assert.isBelow(bomb.length, 400_000)
      let turns = 0
      const others = yield* Effect.forkChild(
        Effect.forever(Effect.andThen(Effect.sync(() => turns++), Effect.yieldNow))
      )
      assert.isUndefined(yield* picturesIn(bomb))
      yield* Fiber.interrupt(others)
      assert.isAbove(turns, 2)
    }))
})
