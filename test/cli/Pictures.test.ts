import { NodeServices } from "@effect/platform-node"
import { assert, layer } from "@effect/vitest"
import { Effect, FileSystem, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { mkdirSync, readdirSync, writeFileSync } from "node:fs"
import sharp from "sharp"
import { call } from "../support/Api.ts"
import { cli } from "../support/CommandLine.ts"
import { eventually } from "../support/Eventually.ts"
import { bytesAt, picture } from "../support/MediaFiles.ts"
import { TestServer } from "../support/Server.ts"

const Live = TestServer.layer().pipe(Layer.provideMerge(NodeServices.layer))

/** Creates a file with these bytes, for the duration of the scope. */
const fileWith = Effect.fnUntraced(function*(bytes: Uint8Array) {
  const fs = yield* FileSystem.FileSystem
  const path = `${yield* fs.makeTempDirectoryScoped({ prefix: "murmuration-cli-" })}/picture`
  yield* fs.writeFile(path, bytes)
  return path
})

const run = (...args: ReadonlyArray<string>) => Effect.flatMap(TestServer, ({ variables }) => cli(args, variables))

const get = (path: string) => Effect.map(call("GET", path, undefined), ({ body }) => body)

const moving = Effect.promise(async () => {
  const frames = await Promise.all(["#f00", "#0f0"].map((colour) => picture(40, 20, colour).png().toBuffer()))
  return sharp(frames, { join: { animated: true } }).gif().toBuffer()
})

const formatAt = Effect.fnUntraced(function*(url: string) {
  const { bytes } = yield* bytesAt(url)
  const { format, height, pageHeight, pages, width } = yield* Effect.promise(() =>
    sharp(bytes, { animated: true }).metadata()
  )
  return { format, width, height: pageHeight ?? height, pages }
})

layer(Live, { excludeTestServices: true })("pictures set by npm run cli with a running server", (it) => {
  it.effect(
    "S-093 S-159: an emoji appears within a second, in the list, in existing posts and profiles; and disappears",
    () =>
      Effect.scoped(Effect.gen(function*() {
        const ada = yield* (yield* TestServer).createPerson("ada")
        const status = yield* call("POST", "/api/v1/statuses", ada.token, { status: "a :party: again" })
        yield* call("PATCH", "/api/v1/accounts/update_credentials", ada.token, { display_name: "Ada :party:" })
        const post = get(`/api/v1/statuses/${status.body.id}`)
        const account = get(`/api/v1/accounts/${ada.accountId}`)
        // The post and the account are cached without an emoji.
        assert.deepStrictEqual([(yield* post).emojis, (yield* account).emojis], [[], []])
        assert.deepStrictEqual(yield* get("/api/v1/custom_emojis"), [])

        const gif = yield* fileWith(yield* moving)
        const added = yield* run("emoji", "add", "party", gif, "--category", "Fun")
        assert.strictEqual(added.code, 0, added.err)
        const shows = ({ emojis }: { emojis: ReadonlyArray<unknown> }) => emojis.length === 1
        const shown = yield* eventually(post, shows)
        yield* eventually(account, shows)
        const [emoji] = yield* eventually(get("/api/v1/custom_emojis"), (all) => all.length === 1)
        assert.deepInclude(emoji, { shortcode: "party", category: "Fun", visible_in_picker: true })
        assert.deepStrictEqual(shown.emojis, [emoji])
        assert.deepInclude(yield* formatAt(emoji.url), { format: "gif", width: 40, height: 20, pages: 2 })
        assert.deepInclude(yield* formatAt(emoji.static_url), { format: "png", width: 40, height: 20 })

        // Pages show it in the post and in its author's name.
        const page = yield* Effect.promise(() => fetch(status.body.url).then((response) => response.text()))
        assert.strictEqual(page.split(`<img class="emoji" src="${emoji.static_url}" alt=":party:"`).length, 3)

        const list = yield* run("emoji", "list")
        assert.match(list.out, /^:party:\tFun\t/m)
        assert.strictEqual((yield* run("emoji", "disable", ":party:")).code, 0)
        yield* eventually(post, ({ emojis }) => emojis.length === 0)
        yield* eventually(get("/api/v1/custom_emojis"), (all) => all.length === 0)
        assert.match((yield* run("emoji", "list")).out, /disabled$/m)
        yield* run("emoji", "enable", "party")
        yield* eventually(post, shows)
        yield* run("emoji", "remove", "party")
        yield* eventually(account, ({ emojis }) => emojis.length === 0)
        for (const url of [emoji.url, emoji.static_url]) assert.strictEqual((yield* bytesAt(url)).status, 404)
        assert.deepInclude(yield* run("emoji", "remove", "party"), {
          code: 1,
          err: "There is no emoji :party: here\n"
        })
      }))
  )

  it.effect(
    "an unlisted emoji can be used and is not offered; a large one is shrunk",
    () =>
      Effect.scoped(Effect.gen(function*() {
        const bea = yield* (yield* TestServer).createPerson("bea")
        const png = yield* fileWith(yield* Effect.promise(() => picture(1000, 500).png().toBuffer()))
        yield* run("emoji", "add", "quiet", png, "--unlisted")
        const { body } = yield* call("POST", "/api/v1/statuses", bea.token, { status: "so :quiet: here" })
        const [emoji] = body.emojis
        assert.deepInclude(emoji, { shortcode: "quiet", visible_in_picker: false, static_url: emoji.url })
        assert.deepInclude(yield* formatAt(emoji.url), { format: "png", width: 256, height: 128 })
        assert.deepStrictEqual(yield* get("/api/v1/custom_emojis"), [])
      }))
  )

  it.effect(
    "row 47: refuses an invalid emoji with a message, and keeps nothing of it",
    () =>
      Effect.scoped(Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const before = yield* sql`SELECT name FROM stored_files`
        yield* sql`INSERT INTO custom_emojis (id, shortcode, url, static_url, visible_in_picker, created_at)
          VALUES (7, 'taken', 'https://files.test/x.png', 'https://files.test/x.png', false, ${new Date()})`
        const png = yield* fileWith(yield* Effect.promise(() => picture().png().toBuffer()))
        const jpg = yield* fileWith(yield* Effect.promise(() => picture().jpeg().toBuffer()))
        const svg = yield* fileWith(new TextEncoder().encode(`<svg xmlns="http://www.w3.org/2000/svg"/>`))
        const large = yield* fileWith(new Uint8Array(262_145))
        const broken = yield* fileWith((yield* Effect.promise(() => picture().png().toBuffer())).subarray(0, 100))
        const refusals = [
          [["no", jpg], "Validation failed: Image content type is invalid"],
          [["no", svg], `${svg} is not a supported picture`],
          [["no", large], `${large} is larger than 256 KB`],
          [["no", broken], "File type of uploaded media could not be verified"],
          [["no", "/nowhere/at/all"], "/nowhere/at/all cannot be read"],
          [["x", png], "Validation failed: Shortcode is invalid"],
          [["../x", png], "Validation failed: Shortcode is invalid"],
          [["taken", png], "Validation failed: Shortcode has already been taken"]
        ] as const
        for (const [args, words] of refusals) {
          assert.deepInclude(yield* run("emoji", "add", ...args), { code: 1, err: `${words}\n` })
        }
        assert.deepStrictEqual(yield* sql`SELECT name FROM stored_files`, before)
      }))
  )

  it.effect(
    "instance thumbnail: appears in both forms of the instance with its sizes and blurhash, and is removed",
    () =>
      Effect.scoped(Effect.gen(function*() {
        const own = (yield* get("/api/v2/instance")).thumbnail
        assert.isNull(own.blurhash)
        assert.notStrictEqual(own.description, "")
        const large = yield* fileWith(yield* Effect.promise(() => picture(3000, 2000).jpeg().toBuffer()))
        assert.strictEqual((yield* run("instance", "thumbnail", large, "--description", "Our square")).code, 0)
        const { thumbnail } = yield* eventually(get("/api/v2/instance"), (now) => now.thumbnail.url !== own.url)
        assert.deepInclude(yield* formatAt(thumbnail.url), { format: "jpeg", width: 1200, height: 630 })
        assert.deepInclude(yield* formatAt(thumbnail.versions["@2x"]), { format: "jpeg", width: 2400, height: 1260 })
        assert.strictEqual(thumbnail.versions["@1x"], thumbnail.url)
        assert.match(thumbnail.blurhash, /^\S{36}$/)
        assert.strictEqual(thumbnail.description, "Our square")
        assert.strictEqual((yield* get("/api/v1/instance")).thumbnail, thumbnail.url)

        const small = yield* fileWith(yield* Effect.promise(() => picture(1300, 700).png().toBuffer()))
        yield* run("instance", "thumbnail", small)
        const { thumbnail: next } = yield* eventually(get("/api/v2/instance"), (now) =>
          now.thumbnail.url !== thumbnail.url)
        assert.deepInclude(yield* formatAt(next.url), { format: "png", width: 1200, height: 630 })
        assert.deepStrictEqual([next.versions["@2x"], next.description], [next.url, ""])
        assert.strictEqual((yield* bytesAt(thumbnail.url)).status, 404)

        yield* run("instance", "thumbnail", "--remove")
        const last = yield* eventually(get("/api/v2/instance"), (now) =>
          now.thumbnail.url !== next.url)
        assert.deepStrictEqual(last.thumbnail, own)
        assert.strictEqual((yield* bytesAt(next.url)).status, 404)
        assert.deepInclude(yield* run("instance", "thumbnail"), { code: 1, err: "Pass a picture file, or --remove\n" })
      }))
  )

  it.effect(
    "instance icon and favicon: appear in every size, and are removed",
    () =>
      Effect.scoped(Effect.gen(function*() {
        const own = (yield* get("/api/v2/instance")).icon
        const file = yield* fileWith(yield* Effect.promise(() => picture(600, 500).webp().toBuffer()))
        assert.deepInclude(yield* run("instance", "icon", file), { code: 0, out: "The picture was set.\n" })
        const { icon } = yield* eventually(get("/api/v2/instance"), (now) => now.icon[0].src !== own[0].src)
        assert.deepInclude(yield* formatAt(icon[8].src), { format: "png", width: 512, height: 512 })
        assert.strictEqual((yield* run("instance", "favicon", file)).code, 0)
        assert.match((yield* run("instance", "show")).out, /^Picture: default, icon: set, favicon: set$/m)
        for (const name of ["icon", "favicon"]) yield* run("instance", name, "--remove")
        yield* eventually(get("/api/v2/instance"), (now) => now.icon[0].src === own[0].src)
        assert.strictEqual((yield* bytesAt(icon[8].src)).status, 404)
      }))
  )

  it.effect("media usage and prune: counts by owner, deletes orphans", () =>
    Effect.gen(function*() {
      const { variables } = yield* TestServer
      const sql = yield* SqlClient.SqlClient
      const folder = `${variables["DATA_DIR"]}/media/files/aa`
      mkdirSync(folder, { recursive: true })
      const [unknown, forgotten, fresh] = ["b", "c", "d"].map((mark) => `${"aa".padEnd(32, mark)}.png`)
      for (const name of [unknown, forgotten, fresh]) writeFileSync(`${folder}/${name}`, new Uint8Array(2048))
      yield* sql`INSERT INTO stored_files (name, bytes, created_at)
        SELECT unnest(${[`aa/${forgotten}`, `aa/${fresh}`]}::text[]), 2048, ${new Date()}`
      const { out } = yield* run("media", "usage", "--check")
      assert.match(out, /^emoji +1 files +[1-9]/m)
      assert.match(out, /^waiting +2 files +4\.0 KB$/m)
      assert.match(out, /^all +3 files/m)
      assert.match(out, /^remote copies +0 files +0 bytes$/m)
      assert.match(out, /^in storage +4 files/m)
      assert.match(out, /^unknown +1 files +2\.0 KB$/m)
      yield* sql`UPDATE stored_files SET created_at = ${new Date(Date.now() - 2 * 3_600_000)}
        WHERE name = ${`aa/${forgotten}`}`
      const pruned = yield* run("media", "prune")
      // The server also looks for them each minute, and may have been first.
      assert.match(
        pruned.out,
        /^[01] files without an owner for an hour,\nand 1 files \(2\.0 KB\) unknown to the database\.$/m
      )
      assert.deepStrictEqual(readdirSync(folder), [fresh])
      const after = yield* run("media", "usage", "--check")
      assert.match(after.out, /^in storage +2 files/m)
      assert.match(after.out, /^unknown +0 files +0 bytes$/m)
    }))
})
