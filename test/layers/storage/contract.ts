import { assert } from "@effect/vitest"
import { Effect, Exit, FileSystem, Stream } from "effect"
import { randomBytes } from "node:crypto"
import { Storage } from "../../../src/services/media/Storage.ts"
import { markDisposable } from "../../../src/services/runtime/OneTimeChunks.ts"

/** Makes a name like `StoredFiles`. */
export const newName = (extension = "png"): string => {
  const chance = Array.from(randomBytes(32), (byte) => (byte & 31).toString(32)).join("")
  return `${chance.slice(0, 2)}/${chance}.${extension}`
}

export const bytesOf = Effect.fnUntraced(function*(name: string, offset: number, length: number) {
  const storage = yield* Storage
  return Buffer.concat(yield* Stream.runCollect(storage.read(name, { offset, length })))
})

/** Returns bytes as a stream of pieces. */
export const pieces = (bytes: Uint8Array, piece = 50_000) =>
  Stream.fromIterable(
    Array.from({ length: Math.ceil(bytes.length / piece) }, (_, index) =>
      bytes.subarray(index * piece, (index + 1) * piece))
  )

export const listed = Effect.flatMap(
  Storage,
  ({ list }) => Effect.map(Stream.runCollect(list), (files) => files.toSorted((a, b) => a.name < b.name ? -1 : 1))
)

/** Names that must never become a path or a key. */
const foreign = ["../../etc/passwd", "ab/../../x.png", "/etc/passwd", "ab/short.png", "", `ab/${"x".repeat(32)}.png/..`]

/** Behaviour of every storage, as named tests that share one storage; each cleans up. */
export const contract: Record<string, Effect.Effect<void, unknown, Storage | FileSystem.FileSystem>> = {
  "gives back what was written, whole and in parts, and says its size": Effect.gen(function*() {
    const storage = yield* Storage
    const [name, bytes] = [newName(), randomBytes(200_000)]
    yield* storage.write(name, pieces(bytes))
    assert.strictEqual(yield* storage.size(name), bytes.length)
    assert.isTrue((yield* bytesOf(name, 0, bytes.length)).equals(bytes))
    assert.isTrue((yield* bytesOf(name, 70_000, 1_000)).equals(bytes.subarray(70_000, 71_000)))
    assert.isTrue((yield* bytesOf(name, bytes.length - 1, 1)).equals(bytes.subarray(-1)))
    assert.strictEqual((yield* bytesOf(name, 5, 0)).length, 0)
    yield* storage.remove(name)
  }),
  "gives back the memory of chunks that are read once, when they are written, and of no others": Effect.gen(
    function*() {
      const storage = yield* Storage
      const name = newName()
      const [whole, part, permanent] = [
        new Uint8Array(70_000).fill(1),
        new Uint8Array(2_000).fill(2),
        new Uint8Array(9).fill(3)
      ]
      const chunks = [markDisposable(whole), markDisposable(part.subarray(1_000)), permanent]
      yield* storage.write(name, Stream.fromIterable(chunks))
      const written = yield* bytesOf(name, 0, 71_009)
      assert.isTrue(
        written.equals(Buffer.concat([Buffer.alloc(70_000, 1), Buffer.alloc(1_000, 2), Buffer.alloc(9, 3)]))
      )
      assert.deepStrictEqual([whole, part, permanent].map(({ length }) => length), [0, 2_000, 9])
      yield* storage.remove(name)
    }
  ),
  "keeps an empty file and one of this machine": Effect.gen(function*() {
    const storage = yield* Storage
    const fs = yield* FileSystem.FileSystem
    const [empty, copied] = [newName(), newName("mp4")]
    yield* storage.write(empty, Stream.empty)
    assert.strictEqual(yield* storage.size(empty), 0)
    const bytes = randomBytes(100_000)
    yield* Effect.scoped(Effect.gen(function*() {
      const folder = yield* storage.folder
      yield* fs.writeFile(`${folder}/made`, bytes)
      yield* storage.writeFile(copied, `${folder}/made`)
      assert.isTrue(yield* fs.exists(`${folder}/made`))
    }))
    assert.isTrue((yield* bytesOf(copied, 0, bytes.length)).equals(bytes))
    yield* Effect.forEach([empty, copied], storage.remove)
  }),
  "takes a large file in and gives it to tools as a file of this machine, and cleans up": Effect.gen(function*() {
    const storage = yield* Storage
    const fs = yield* FileSystem.FileSystem
    const [name, bytes] = [newName("mp4"), randomBytes(16 * 1_048_576 + 123)]
    yield* storage.write(name, pieces(bytes, 400_000))
    assert.strictEqual(yield* storage.size(name), bytes.length)
    const there = yield* Effect.scoped(Effect.gen(function*() {
      const [path, folder] = [yield* storage.local(name), yield* storage.folder]
      assert.isTrue(Buffer.from(yield* fs.readFile(path)).equals(bytes))
      return folder
    }))
    assert.isFalse(yield* fs.exists(there))
    yield* storage.remove(name)
  }),
  "shows nothing of what breaks off": Effect.gen(function*() {
    const storage = yield* Storage
    for (const size of [1_000, 8 * 1_048_576 + 1]) {
      const name = newName()
      const broken = Stream.concat(pieces(randomBytes(size), 100_000), Stream.fail("it broke off"))
      assert.strictEqual(yield* Effect.flip(storage.write(name, broken)), "it broke off")
      assert.isUndefined(yield* storage.size(name))
    }
    assert.deepStrictEqual(yield* listed, [])
  }),
  "removes, also what is not there; knows what it does not have": Effect.gen(function*() {
    const storage = yield* Storage
    const name = newName()
    yield* storage.write(name, pieces(randomBytes(10)))
    yield* storage.remove(name)
    yield* storage.remove(name)
    assert.isUndefined(yield* storage.size(name))
    assert.isTrue(Exit.isFailure(yield* Effect.exit(bytesOf(name, 0, 5))))
    assert.isTrue(Exit.isFailure(
      yield* Effect.exit(Effect.scoped(
        Effect.flatMap(storage.local(name), (path) => Effect.flatMap(FileSystem.FileSystem, (fs) => fs.readFile(path)))
      ))
    ))
  }),
  "lists every file with its size": Effect.gen(function*() {
    const storage = yield* Storage
    const files = Array.from({ length: 8 }, (_, index) => ({ name: newName(), bytes: index * 100 }))
    yield* Effect.forEach(files, ({ bytes, name }) => storage.write(name, pieces(randomBytes(bytes))))
    assert.deepStrictEqual(yield* listed, files.toSorted((a, b) => a.name < b.name ? -1 : 1))
    yield* Effect.forEach(files, ({ name }) => storage.remove(name))
    assert.deepStrictEqual(yield* listed, [])
  }),
  "row 51: no name but ours becomes a path or a key": Effect.gen(function*() {
    const storage = yield* Storage
    for (const name of foreign) {
      assert.strictEqual((yield* Effect.flip(storage.write(name, pieces(randomBytes(3)))))._tag, "StorageFailed", name)
      assert.isUndefined(yield* storage.size(name), name)
      assert.isTrue(Exit.isFailure(yield* Effect.exit(bytesOf(name, 0, 1))), name)
      assert.isTrue(Exit.isFailure(yield* Effect.exit(storage.remove(name))), name)
      assert.isTrue(Exit.isFailure(yield* Effect.exit(Effect.scoped(storage.local(name)))), name)
    }
  })
}
