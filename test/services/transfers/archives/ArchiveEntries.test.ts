import { assert, describe, it } from "@effect/vitest"
import { Effect, Stream } from "effect"
import { Tar } from "effect/encoding"
import { gzipSync, zipSync } from "fflate"
import { tarballOf } from "../../../../src/services/media/EmojiTarballs.ts"
import { entriesMax } from "../../../../src/services/transfers/archives/ArchiveBounds.ts"
import { forEachEntry } from "../../../../src/services/transfers/archives/ArchiveEntries.ts"
import { directoryEnd, directoryEntry, localHeader } from "../../../../src/services/transfers/archives/ZipFormat.ts"
import { noteOf } from "../../../support/Archives.ts"

const chunked = (bytes: Uint8Array, chunkBytes = 65_536) =>
  Stream.fromIterable(
    Array.from(
      { length: Math.ceil(bytes.length / chunkBytes) },
      (_, at) => bytes.subarray(at * chunkBytes, (at + 1) * chunkBytes)
    )
  )
const readAll = Effect.fnUntraced(function*(archive: Uint8Array, chunkBytes?: number) {
  const files: Array<readonly [string, string]> = []
  yield* forEachEntry(
    archive.subarray(0, 64),
    chunked(archive, chunkBytes),
    archive.length,
    ({ body, path }) =>
      Effect.map(Stream.runCollect(body), (parts) => files.push([path, Buffer.concat([...parts]).toString()]))
  )
  return files
})
/** Packs entries of any type as a tar.gz. */
const packed = (...entries: ReadonlyArray<Tar.Entry>) =>
  Stream.fromIterable(entries).pipe(
    Stream.pipeThroughChannel(Tar.encode()),
    Stream.runCollect,
    Effect.map((parts) => gzipSync(Buffer.concat([...parts])))
  )
const text = (value: string) => new TextEncoder().encode(value)
const refusal = (archive: Uint8Array) => Effect.map(Effect.flip(readAll(archive)), ({ problem }) => problem)
const damaged = "unreadable"
/** Makes a zip of empty files. */
const emptyFiles = (count: number): Uint8Array => {
  const at = new Date(0)
  const entries = Array.from(
    { length: count },
    (_, n) => ({ path: `${n}`, deflated: false, crc: 0, size: 0, storedSize: 0 })
  )
  let end = 0
  const offsets: Array<number> = []
  const headers = entries.map((entry) => {
    const header = localHeader(entry, at)
    offsets.push(end)
    end += header.length
    return header
  })
  const directory = Buffer.concat(entries.map((entry, n) => directoryEntry(entry, at, offsets[n]!)))
  return Buffer.concat([...headers, directory, directoryEnd(count, directory.length, end)])
}
const countOf = (archive: Uint8Array) =>
  Effect.suspend(() => {
    let count = 0
    const each = Effect.sync(() => count++)
    return Effect.map(forEachEntry(archive.subarray(0, 64), chunked(archive), archive.length, () => each), () => count)
  })

describe("the files of a streamed archive", () => {
  it.effect("are those of a zip, with its bytes cut anywhere", () =>
    Effect.gen(function*() {
      const zip = zipSync({ "outbox.json": text("{}"), "./media/a b.png": [text("picture"), { level: 0 }] })
      for (const bytes of [1, 7, 65_536]) {
        assert.deepStrictEqual(yield* readAll(zip, bytes), [["outbox.json", "{}"], ["media/a b.png", "picture"]])
      }
    }))

  it.effect("are those of a tar.gz", () =>
    Effect.gen(function*() {
      const tarball = yield* tarballOf([["outbox.json", text("{}")], ["media/a.png", text("picture")]], new Date(0))
      assert.deepStrictEqual(yield* readAll(tarball), [["outbox.json", "{}"], ["media/a.png", "picture"]])
    }))

  it.effect("are refused in another or damaged file", () =>
    Effect.gen(function*() {
      const zip = zipSync({ "outbox.json": text("{}".repeat(1_000)) })
      const corrupt = Uint8Array.from(zip)
      corrupt[60]! ^= 0xff
      const hostile = [text(""), text("Rar!"), zip.subarray(0, 50), corrupt, gzipSync(text("no tar")).subarray(0, 20)]
      for (const archive of hostile) assert.strictEqual(yield* refusal(archive), damaged)
    }))

  it.effect("F257: are refused with paths that leave the archive, or are longer than an index can hold", () =>
    Effect.gen(function*() {
      for (const path of ["../x", "a/../../x", "/etc/passwd", "C:\\x", "a\\..\\x", "a\u0007", "\u4e00".repeat(400)]) {
        assert.strictEqual(
          yield* refusal(zipSync({ [path]: text("x") })),
          "unsafe_path",
          path
        )
      }
    }))

  it.effect("are those of a tar.gz without its links, and are refused if a link's path leaves the archive", () =>
    Effect.gen(function*() {
      const links = [Tar.symlink("a.png", "../../../etc/passwd"), Tar.hardlink("b.png", "/etc/passwd")]
      const outbox = Tar.file("outbox.json", "{}")
      assert.deepStrictEqual(yield* readAll(yield* packed(...links, outbox)), [["outbox.json", "{}"]])
      for (const entry of [Tar.symlink("../a", "b"), Tar.directory("../../a"), Tar.hardlink("/a", "b")]) {
        assert.strictEqual(yield* refusal(yield* packed(outbox, entry)), "unsafe_path")
      }
      // The name itself is larger than headers may be.
      assert.strictEqual(yield* refusal(yield* packed(Tar.file("a".repeat(2 * 1_048_576), ""))), damaged)
    }))

  it.effect("are refused in a zip bomb, also in an unused entry", () =>
    Effect.gen(function*() {
      const bomb = zipSync({ "bomb.bin": [new Uint8Array(80 * 1_048_576), { level: 6 }] })
      assert.isBelow(bomb.length, 200_000)
      const ignored = forEachEntry(bomb.subarray(0, 64), chunked(bomb), bomb.length, () => Effect.void)
      const { problem } = yield* Effect.flip(ignored)
      const refused = "bomb"
      assert.strictEqual(problem, refused)
      assert.strictEqual(yield* refusal(gzipSync(new Uint8Array(80 * 1_048_576))), refused)
    }))

  it.effect("F477: are those of large accounts: 60,000 posts that compress twenty times, and 120,000 pictures", () =>
    Effect.gen(function*() {
      const content = "<p>Good morning from the lighthouse.</p>".repeat(30)
      const items = Array.from({ length: 60_000 }, (_, n) => noteOf("https://old.example/users/zoe", n, { content }))
      const posts = text(JSON.stringify({ orderedItems: items }))
      const zip = zipSync({ "outbox.json": posts })
      const tarball = yield* tarballOf([["outbox.json", posts]], new Date(0))
      for (const archive of [zip, tarball]) {
        assert.isAbove(posts.length, archive.length * 20)
        const sizes: Array<number> = []
        yield* forEachEntry(
          archive.subarray(0, 64),
          chunked(archive),
          archive.length,
          ({ body }) =>
            Effect.map(Stream.runFold(body, () => 0, (sum, chunk) => sum + chunk.length), (size) => sizes.push(size))
        )
        assert.deepStrictEqual(sizes, [posts.length])
      }
      assert.strictEqual(yield* countOf(emptyFiles(120_000)), 120_000)
    }))

  it.effect("are refused if there are too many", () =>
    Effect.gen(function*() {
      const { problem } = yield* Effect.flip(countOf(emptyFiles(entriesMax + 1)))
      assert.strictEqual(problem, "too_many_files")
    }))
})
