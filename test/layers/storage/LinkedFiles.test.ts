import { NodeServices } from "@effect/platform-node"
import { assert, it } from "@effect/vitest"
import { Effect, FileSystem, Layer, Option, PlatformError } from "effect"
import * as LocalStorage from "../../../src/layers/storage/LocalStorage.ts"
import { Storage } from "../../../src/services/media/Storage.ts"
import { environment } from "../../support/MediaJobs.ts"
import { newName } from "./contract.ts"

/** Stores a file of another program; returns both paths and whether they are one file. */
const stored = Effect.fnUntraced(function*(isFixed: boolean) {
  const fs = yield* FileSystem.FileSystem
  const storage = yield* Storage
  const folder = yield* fs.makeTempDirectoryScoped({ prefix: "murmuration-linked-" })
  const source = `${folder}/original.png`
  yield* fs.writeFileString(source, "a bird")
  yield* fs.symlink(source, `${folder}/link.png`)
  const name = newName("png")
  yield* storage.writeFile(name, `${folder}/link.png`, isFixed)
  const path = yield* storage.local(name)
  const inode = (file: string) => Effect.map(fs.stat(file), ({ ino }) => Option.getOrThrow(ino))
  return { source, name, path, isOne: (yield* inode(source)) === (yield* inode(path)) }
})

const run = LocalStorage.layer.pipe(Layer.provideMerge(environment), Layer.provideMerge(NodeServices.layer))

/** A file system on which the source is another one. */
const apart = LocalStorage.layer.pipe(
  Layer.provide(Layer.effect(
    FileSystem.FileSystem,
    Effect.map(FileSystem.FileSystem, (fs) => ({
      ...fs,
      link: () =>
        Effect.fail(
          PlatformError.systemError({ _tag: "Unknown", module: "FileSystem", method: "link", description: "EXDEV" })
        )
    }))
  )),
  Layer.provideMerge(environment),
  Layer.provideMerge(NodeServices.layer)
)

it.layer(run, { excludeTestServices: true })("a file that nobody writes to", (it) => {
  it.effect("is linked, and remains at its place when the stored file is replaced or deleted", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const storage = yield* Storage
      const { isOne, name, path, source } = yield* stored(true)
      assert.isTrue(isOne)
      const other = `${source}.other`
      yield* fs.writeFileString(other, "a bee")
      yield* storage.writeFile(name, other)
      assert.deepStrictEqual([yield* fs.readFileString(path), yield* fs.readFileString(source)], ["a bee", "a bird"])
      const another = yield* stored(true)
      yield* storage.remove(another.name)
      assert.deepStrictEqual([yield* fs.exists(another.path), yield* fs.readFileString(another.source)], [
        false,
        "a bird"
      ])
    }))

  it.effect("differs from other files, which are copied", () =>
    Effect.gen(function*() {
      assert.isFalse((yield* stored(false)).isOne)
    }))
})

it.layer(apart, { excludeTestServices: true })("a file of another file system", (it) => {
  it.effect("is copied", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const { isOne, path } = yield* stored(true)
      assert.isFalse(isOne)
      assert.strictEqual(yield* fs.readFileString(path), "a bird")
    }))
})
