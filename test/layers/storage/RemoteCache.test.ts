import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Context, Deferred, Effect, Fiber, FileSystem, Layer, Stream } from "effect"
import { TestClock } from "effect/testing"
import { createHash } from "node:crypto"
import * as RemoteCache from "../../../src/layers/storage/RemoteCache.ts"
import { RemoteCopies } from "../../../src/services/media/RemoteCopies.ts"
import { Refused } from "../../../src/services/outbound/OutboundError.ts"
import { testEnvironment } from "../../support/TestEnvironment.ts"

const roomBytes = 10_000

const keyOf = (name: string) => createHash("sha256").update(name).digest("hex").slice(0, 40)

/** Makes bytes that start like a PNG. */
const png = (size: number) => {
  const bytes = new Uint8Array(size)
  bytes.set([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 13, 0x49, 0x48, 0x44, 0x52])
  return bytes
}

/** Starts a cache over a folder, as in a new process. */
const started = Effect.fnUntraced(function*(dataDir: string) {
  const environment = testEnvironment({ DATA_DIR: dataDir, MEDIA_CACHE_BYTES: String(roomBytes) })
  const context = yield* Layer.build(Layer.fresh(RemoteCache.layer.pipe(Layer.provide(environment))))
  const copies = Context.get(context, RemoteCopies)
  const asked: Array<string> = []
  return {
    copies,
    asked,
    /** Views a file, of 3,000 bytes by default. */
    view: (name: string, size = 3_000, notBefore = 0) =>
      copies.get(
        keyOf(name),
        notBefore,
        Stream.suspend(() => {
          asked.push(name)
          return Stream.make(png(size).subarray(0, 10), png(size).subarray(10))
        })
      )
  }
})

const folder = Effect.flatMap(FileSystem.FileSystem, (fs) => fs.makeTempDirectoryScoped({ prefix: "murmuration-" }))

/** Returns the names and sizes of all files in the cache's folder. */
const onDisk = Effect.fnUntraced(function*(dataDir: string) {
  const fs = yield* FileSystem.FileSystem
  const root = `${dataDir}/media/remote`
  const found: Array<{ readonly name: string; readonly bytes: number }> = []
  for (const name of yield* fs.readDirectory(root, { recursive: true })) {
    const { size, type } = yield* fs.stat(`${root}/${name}`)
    if (type === "File") found.push({ name, bytes: Number(size) })
  }
  return found
})

const total = (files: ReadonlyArray<{ readonly bytes: number }>) => files.reduce((sum, { bytes }) => sum + bytes, 0)

const run = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.scoped(effect).pipe(Effect.provide(NodeServices.layer))

describe("copies of remote files", () => {
  it.effect("the least recently viewed files are evicted first, in the same order after a restart", () =>
    run(Effect.gen(function*() {
      const dataDir = yield* folder
      const first = yield* started(dataDir)
      for (const name of ["a", "b", "c"]) {
        yield* first.view(name)
        yield* TestClock.adjust("2 minutes")
      }
      yield* first.view("a")
      yield* TestClock.adjust("2 minutes")
      yield* first.view("d")
      assert.deepStrictEqual(first.asked, ["a", "b", "c", "d"])
      assert.strictEqual(total(yield* onDisk(dataDir)), 9_000)
      yield* TestClock.adjust("2 minutes")
      yield* first.view("c")

      // File a is the least recently viewed of a, c and d.
      const second = yield* started(dataDir)
      yield* TestClock.adjust("2 minutes")
      yield* second.view("e")
      for (const name of ["c", "d", "e"]) yield* second.view(name)
      assert.deepStrictEqual(second.asked, ["e"])
      yield* second.view("a")
      assert.deepStrictEqual(second.asked, ["e", "a"])
    })))

  it.effect("never exceed their budget, with any number and size of concurrent files", () =>
    run(Effect.gen(function*() {
      const dataDir = yield* folder
      const { view } = yield* started(dataDir)
      // Two of these large ones do not fit together.
      const large = Array.from({ length: 60 }, (_, index) => 5_100 + index)
      yield* Effect.forEach(large, (size, index) => view(`large ${index}`, size), { concurrency: "unbounded" })
      assert.strictEqual((yield* onDisk(dataDir)).length, 1)
      const sizes = Array.from({ length: 60 }, (_, index) => (index * 977) % 6_000 + 100)
      yield* Effect.forEach(sizes, (size, index) => view(`file ${index}`, size), { concurrency: "unbounded" })
      const files = yield* onDisk(dataDir)
      assert.isAtMost(total(files), roomBytes)
      assert.isAtLeast(total(files), roomBytes - 6_100)
      assert.strictEqual((yield* Effect.flip(view("large", roomBytes + 1)))._tag, "NoRemoteFile")
      assert.deepStrictEqual(yield* onDisk(dataDir), files)
    })))

  it.effect("refetches an expired file in place of the old copy", () =>
    run(Effect.gen(function*() {
      const dataDir = yield* folder
      const { asked, view } = yield* started(dataDir)
      const { fetchedAt } = yield* view("a")
      yield* TestClock.adjust("1 minute")
      yield* view("a", 2_000, fetchedAt)
      assert.strictEqual((yield* view("a", 2_000, fetchedAt + 1)).bytes, 2_000)
      assert.deepStrictEqual(asked, ["a", "a"])
      assert.strictEqual(total(yield* onDisk(dataDir)), 2_000)
    })))

  it.effect("a caller that stops waiting does not stop others, and a failed fetch is removed and retried", () =>
    run(Effect.gen(function*() {
      const dataDir = yield* folder
      const { copies } = yield* started(dataDir)
      const go = yield* Deferred.make<void>()
      const slow = Stream.concat(Stream.fromEffect(Effect.as(Deferred.await(go), png(500))), Stream.empty)
      const key = keyOf("slow")
      const first = yield* Effect.forkChild(copies.get(key, 0, slow), { startImmediately: true })
      const second = yield* Effect.forkChild(copies.get(key, 0, Stream.die("asked twice")), { startImmediately: true })
      yield* Fiber.interrupt(first)
      yield* Deferred.succeed(go, undefined)
      assert.strictEqual((yield* Fiber.join(second)).bytes, 500)

      const refused = new Refused({ url: "https://else.test/x", rule: "size" })
      const broken = Stream.concat(Stream.make(png(800)), Stream.fail(refused))
      const other = keyOf("broken")
      assert.strictEqual(yield* Effect.flip(copies.get(other, 0, broken)), refused)
      assert.lengthOf(yield* onDisk(dataDir), 1)
      assert.strictEqual((yield* copies.get(other, 0, Stream.make(png(700)))).bytes, 700)
    })))

  it.effect("half-written files of a killed process are deleted, and so are foreign files", () =>
    run(Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const dataDir = yield* folder
      yield* (yield* started(dataDir)).view("a")
      const key = keyOf("b")
      const place = `${dataDir}/media/remote/${key.slice(0, 2)}`
      yield* fs.makeDirectory(place, { recursive: true })
      for (const name of [`${key}-1.part`, `${key}.text_html`, "README"]) {
        yield* fs.writeFileString(`${place}/${name}`, "x")
        yield* fs.utimes(`${place}/${name}`, 0, 0)
      }
      const draft = `${place}/${keyOf("c")}-2.part`
      yield* fs.writeFileString(draft, "x")
      const millis = 3 * 3_600_000
      yield* TestClock.adjust(millis)
      yield* fs.utimes(draft, millis / 1000 - 1, millis / 1000 - 1)
      const again = yield* started(dataDir)
      // Another process may be writing new files.
      assert.isTrue(yield* fs.exists(draft))
      yield* fs.remove(draft)
      assert.deepStrictEqual((yield* onDisk(dataDir)).map(({ bytes }) => bytes), [3_000])
      yield* again.view("a")
      assert.deepStrictEqual(again.asked, [])
      // A removed file is fetched again.
      const [left] = yield* onDisk(dataDir)
      yield* fs.remove(`${dataDir}/media/remote/${left?.name}`)
      yield* again.view("a")
      assert.deepStrictEqual(again.asked, ["a"])
    })))

  it.effect("F113: dripping files do not delay other files, and together take half of the space", () =>
    run(Effect.gen(function*() {
      const dataDir = yield* folder
      const { copies, view } = yield* started(dataDir)
      const begun: Array<Deferred.Deferred<void>> = []
      const more = yield* Deferred.make<void>()
      const drip = Effect.fnUntraced(function*(name: string, later: number) {
        const here = yield* Deferred.make<void>()
        begun.push(here)
        const stream = Stream.concat(
          Stream.fromEffect(Effect.as(Deferred.succeed(here, undefined), png(30))),
          Stream.fromEffect(Effect.as(Deferred.await(more), new Uint8Array(later)))
        )
        return yield* Effect.forkChild(Effect.result(copies.get(keyOf(name), 0, stream)), { startImmediately: true })
      })
      // Twice the maximum of concurrent ones.
      const dripping = yield* Effect.forEach(
        Array.from({ length: 32 }, (_, at) => `slow ${at}`),
        (name) => drip(name, 300)
      )
      yield* Effect.forEach(begun.slice(0, 16), Deferred.await)
      const prompt = yield* Effect.forkChild(view("prompt", 1_000), { startImmediately: true })
      for (let turn = 0; turn < 3; turn++) {
        yield* TestClock.adjust("3 seconds")
        yield* Effect.forEach(begun.slice(0, 16 * Math.min(2, turn + 1)), Deferred.await)
      }
      assert.strictEqual((yield* Fiber.join(prompt)).bytes, 1_000)
      yield* Deferred.succeed(more, undefined)
      const ended = yield* Effect.forEach(dripping, Fiber.join)
      // 960 bytes have arrived; with 300 more of each, 13 fit into 5,000.
      assert.isAbove(ended.filter(({ _tag }) => _tag === "Failure").length, 0)
      assert.isAbove(ended.filter(({ _tag }) => _tag === "Success").length, 0)
      assert.isAtMost(total(yield* onDisk(dataDir)), roomBytes)
      yield* view("after", 5_000)
    })))
})
