import { assert, layer } from "@effect/vitest"
import { Effect, Stream } from "effect"
import { SqlClient } from "effect/sql"
import { zipSync } from "fflate"
import { tarballOf } from "../../../../src/services/media/EmojiTarballs.ts"
import { forEachEntry } from "../../../../src/services/transfers/archives/ArchiveEntries.ts"
import { ArchiveRefused } from "../../../../src/services/transfers/archives/ArchiveRefusals.ts"
import { readFile } from "../../../../src/services/transfers/ListFiles.ts"
import { textOf } from "../../../../src/services/transfers/ListFileText.ts"
import {
  archiveServer,
  importArchive,
  mastodonArchive,
  mover,
  noteOf,
  picturedPosts,
  planOf,
  postsOf
} from "../../../support/Archives.ts"
import { configuration } from "../../../support/Reads.ts"

const utf8 = (text: string) => new TextEncoder().encode(text)

/** Reads an archive; returns the files that were read completely, and the refusal. */
const entriesOf = Effect.fnUntraced(function*(archive: Uint8Array) {
  const files = new Map<string, string>()
  const outcome = yield* Effect.result(forEachEntry(
    archive.subarray(0, 64),
    Stream.make(archive),
    archive.length,
    ({ body, path }) =>
      Effect.map(Stream.runCollect(body), (parts) => files.set(path, Buffer.concat([...parts]).toString("latin1")))
  ))
  if (outcome._tag === "Success") return { files, refusal: undefined }
  assert.isTrue(outcome.failure instanceof ArchiveRefused, String(outcome.failure))
  return { files, refusal: outcome.failure.problem }
})

/** Makes a stored zip entry whose zip64 field has these sizes. */
const zip64Of = (path: string, content: string, claimed: bigint) => {
  const header = Buffer.alloc(30)
  header.writeUInt32LE(0x04034b50, 0)
  header.writeUInt16LE(45, 4)
  header.writeUInt32LE(0xffffffff, 18)
  header.writeUInt32LE(0xffffffff, 22)
  header.writeUInt16LE(path.length, 26)
  header.writeUInt16LE(20, 28)
  const extra = Buffer.alloc(20)
  extra.writeUInt16LE(1, 0)
  extra.writeUInt16LE(16, 2)
  extra.writeBigUInt64LE(claimed, 4)
  extra.writeBigUInt64LE(claimed, 12)
  return Buffer.concat([header, Buffer.from(path), extra, Buffer.from(content)])
}

layer(archiveServer, { excludeTestServices: true })("hostile archives", (it) => {
  it.effect("F361: cut at any byte, are refused, and give only whole files before the cut", () =>
    Effect.gen(function*() {
      const content = new Map([["a.json", "{}".repeat(40)], ["media/b.png", "picture"], ["outbox.json", "[1]"]])
      const files = Array.from(content, ([path, text]) => [path, utf8(text)] as const)
      const zip = zipSync(Object.fromEntries(files))
      const tarball = yield* tarballOf(files, new Date(0))
      for (const archive of [zip, tarball]) {
        assert.isUndefined((yield* entriesOf(archive)).refusal)
        for (let cut = 0; cut < archive.length; cut++) {
          const { files: found, refusal } = yield* entriesOf(archive.subarray(0, cut))
          for (const [path, text] of found) assert.strictEqual(text, content.get(path), `${cut}`)
          // Without the checksum that ends a tar.gz, all of its files may be there.
          const isWhole = archive === tarball && found.size === content.size
          if (!isWhole) assert.strictEqual(refusal, "unreadable", `cut at ${cut} of ${archive.length}`)
        }
      }
    }))

  it.effect("with false sizes in zip64 fields are refused without memory for them", () =>
    Effect.gen(function*() {
      for (const claimed of [0n, 5n, 2n ** 33n, 2n ** 53n + 1n, 2n ** 63n, 2n ** 64n - 1n]) {
        const before = process.memoryUsage().rss
        const { refusal } = yield* entriesOf(zip64Of("outbox.json", "{}", claimed))
        assert.strictEqual(refusal, "unreadable", String(claimed))
        assert.isBelow(process.memoryUsage().rss - before, 256 * 1_048_576)
      }
    }))

  it.effect("have archives and symbolic links as files with their bytes, and other names than the expected ones as others", () =>
    Effect.gen(function*() {
      const inner = zipSync({ "outbox.json": utf8("inner") })
      const { files, refusal } = yield* entriesOf(zipSync({
        "media/inner.zip": [inner, { level: 0 }],
        "media/link.png": [utf8("/etc/passwd"), { os: 3, attrs: 0o120777 << 16 }],
        // With a Cyrillic o, and with a full-width letter.
        "\u043eutbox.json": utf8("look-alike"),
        "\uff4futbox.json": utf8("look-alike")
      }))
      assert.isUndefined(refusal)
      assert.strictEqual(files.get("media/inner.zip"), Buffer.from(inner).toString("latin1"))
      assert.strictEqual(files.get("media/link.png"), "/etc/passwd")
      assert.isFalse(files.has("outbox.json"))
      const [owner, actor] = yield* mover("looks")
      const lookAlike = zipSync({
        "actor.json": utf8(JSON.stringify({ id: actor, type: "Person", outbox: "outbox.json" })),
        "\u043eutbox.json": utf8(JSON.stringify({ orderedItems: [noteOf(actor, 1)] }))
      })
      const { problem, state } = yield* planOf(owner, lookAlike)
      assert.strictEqual(state, "failed")
      assert.isString(problem)
    }))

  it.effect("F361: cut at drawn bytes, fail with a reason and leave nothing; the whole archive is imported afterwards", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const [owner, actor] = yield* mover("cuts")
      const { files, items } = yield* picturedPosts(actor, 20, 3)
      const archive = mastodonArchive(actor, items, files)
      let draw = 7
      for (let n = 0; n < 8; n++) {
        draw = (draw * 48_271) % 2_147_483_647
        const { id, problem, state } = yield* planOf(owner, archive.subarray(0, 64 + draw % (archive.length - 64)))
        assert.deepStrictEqual([state, problem], ["failed", "unreadable"])
        const left = yield* sql`SELECT FROM statuses WHERE account_id = ${owner}`
        assert.lengthOf(left, 0, String(id))
      }
      const done = yield* importArchive(owner, archive)
      assert.deepInclude(done, { state: "finished", added: 20, failed: 0 })
    }))

  it.effect("with 100,000 nested arrays, or dates before 1970 and after 9999, fail with a reason or keep their posts", () =>
    Effect.gen(function*() {
      const [owner, actor] = yield* mover("dates")
      const nested = zipSync({
        "actor.json": utf8(JSON.stringify({ id: actor, type: "Person", outbox: "outbox.json" })),
        "outbox.json": utf8(`{"orderedItems":[${"[".repeat(100_000)}${"]".repeat(100_000)}]}`)
      })
      assert.deepInclude(yield* planOf(owner, nested), { state: "failed", problem: "unreadable" })
      const published = [
        "1969-07-20T20:17:40Z",
        "-000001-01-01T00:00:00Z",
        "0000-00-00T00:00:00Z",
        "9999-12-31T23:59:59Z",
        "10000-01-01T00:00:00Z",
        "+275760-09-13T00:00:00.001Z",
        "2019-02-30T00:00:00Z",
        "yesterday",
        "2019-02-01T00:00:00Z"
      ]
      const items = published.map((date, n) => noteOf(actor, n, { published: date }))
      const done = yield* importArchive(owner, mastodonArchive(actor, items))
      assert.strictEqual(done.state, "finished")
      const now = Date.now()
      const posts = yield* postsOf(owner)
      for (const { createdAt } of posts) assert.isTrue(createdAt.getTime() >= 0 && createdAt.getTime() <= now + 60_000)
      assert.include(posts.map(({ createdAt }) => createdAt.toISOString()), "2019-02-01T00:00:00.000Z")
      // Every post is added or counted.
      const { plan } = yield* planOf(owner, mastodonArchive(actor, items))
      assert.strictEqual(posts.length + plan.unreadable, published.length)
    }))

  it.effect("files of lists with a NUL, or a cell of 10 MB, are refused or have an invalid line; memory is bounded", () =>
    Effect.gen(function*() {
      const bytes = (text: string) => Buffer.from(text)
      assert.include((yield* Effect.flip(textOf(bytes("a@b.example\n\0c@d.example\n")))).text, "UTF-8 or UTF-16")
      const marked = Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from("a@b.example\r\n", "utf16le")])
      const read = yield* readFile(yield* textOf(marked), "", "follows", configuration)
      assert.deepStrictEqual(read.lines.map(({ name }) => name), ["a@b.example"])
      const huge = `a@b.example\n"${"x".repeat(10 * 1_048_576)}"\nc@d.example\n`
      const before = process.memoryUsage().rss
      const outcome = yield* Effect.result(readFile(yield* textOf(bytes(huge)), "", "follows", configuration))
      if (outcome._tag === "Failure") assert.include(outcome.failure.text, "Data")
      else assert.isTrue(outcome.success.lines.every(({ name }) => name.length <= 4_096))
      assert.isBelow(process.memoryUsage().rss - before, 512 * 1_048_576)
    }))
})
