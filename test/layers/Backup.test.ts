import { NodeCrypto, NodeServices } from "@effect/platform-node"
import { assert, describe, it, layer } from "@effect/vitest"
import { Context, Deferred, Effect, Fiber, FileSystem, Layer, Stream } from "effect"
import { Tar } from "effect/encoding"
import * as Backup from "../../src/layers/backup/Backup.ts"
import * as NewFile from "../../src/layers/backup/NewFile.ts"
import * as Restore from "../../src/layers/backup/Restore.ts"
import { partsOf } from "../../src/layers/backup/Snapshot.ts"
import { Storage, StorageFailed } from "../../src/services/media/Storage.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { testEnvironment } from "../support/TestEnvironment.ts"

const nameOf = (letter: string) => `${letter}0/${letter.repeat(32)}.png`
const gone = nameOf("g")
const broken = nameOf("b")

/**
 * Makes a storage that lists files, of which one was deleted in the meantime; `broken` cannot be read. Records what is
 * written.
 */
const storageOf = (names: ReadonlyArray<string>, written: Array<string> = []) =>
  Storage.of({
    list: Stream.fromIterable(names.map((name) => ({ name, bytes: 4 }))),
    size: (name) => Effect.succeed(name === gone ? undefined : 4),
    read: (name) =>
      name === gone || name === broken
        ? Stream.fail(new StorageFailed({ text: `cannot read ${name}` }))
        : Stream.make(new TextEncoder().encode("fo"), new TextEncoder().encode("ur")),
    write: (name, bytes) =>
      Effect.andThen(
        Stream.runDrain(bytes),
        Effect.sync(() => {
          written.push(name)
        })
      ),
    writeFile: () => Effect.die("unused"),
    local: () => Effect.die("unused"),
    folder: Effect.die("unused"),
    remove: () => Effect.die("unused")
  })

const folder = Effect.flatMap(
  FileSystem.FileSystem,
  (fs) => fs.makeTempDirectoryScoped({ prefix: "murmuration-archive-" })
)

const entriesIn = (file: string) =>
  Effect.flatMap(FileSystem.FileSystem, (fs) =>
    fs.stream(file).pipe(
      Stream.pipeThroughChannel(Tar.decode()),
      Stream.mapEffect(({ body, header }) =>
        Effect.map(Stream.runCollect(body), (parts) => ({ path: header.path, content: Buffer.concat([...parts]) }))
      ),
      Stream.runCollect
    ))

const variables = { LOCAL_DOMAIN: "birds.example", DATA_DIR: "/nonexistent" }
const Live = Layer.mergeAll(NodeServices.layer, NodeCrypto.layer, TestDatabase.layer)

layer(Live, { excludeTestServices: true })("backups", (it) => {
  const backup = Effect.fnUntraced(function*(file: string, names: ReadonlyArray<string>) {
    const { connection, url } = yield* TestDatabase
    return yield* Backup.write(file, connection, true).pipe(
      Effect.provideService(Storage, storageOf(names)),
      Effect.provide(testEnvironment({ ...variables, DATABASE_URL: url }))
    )
  })

  it.effect("F259: a file that the server deletes while a backup runs is left out; a broken one fails it", () =>
    Effect.scoped(Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const at = yield* folder
      const copied = yield* backup(`${at}/some.tar`, [nameOf("a"), gone, nameOf("c")])
      assert.deepInclude(copied, { files: 2, bytes: 8 })
      const entries = yield* entriesIn(`${at}/some.tar`)
      assert.deepStrictEqual(
        entries.filter(({ path }) => path.startsWith("media/")).map(({ content, path }) => [path, content.toString()]),
        [[`media/${nameOf("a")}`, "four"], [`media/${nameOf("c")}`, "four"]]
      )
      const error = yield* Effect.flip(backup(`${at}/broken.tar`, [nameOf("a"), broken]))
      assert.include(error.message, `The backup failed: cannot read ${broken}`)
      assert.deepStrictEqual(yield* fs.readDirectory(at), ["some.tar"])
    })))

  it.effect(
    "F478: a restore refuses links, paths outside the storage, unknown tables and entries after the end, and names what it wrote",
    () =>
      Effect.scoped(Effect.gen(function*() {
        const fs = yield* FileSystem.FileSystem
        const at = yield* folder
        yield* backup(`${at}/good.tar`, [nameOf("a")])
        const good = (yield* entriesIn(`${at}/good.tar`)).map(({ content, path }) => Tar.file(path, content))
        const [manifest, ...rest] = good
        const empty = Context.get(yield* Layer.build(Layer.fresh(TestDatabase.layerEmpty)), TestDatabase)
        const written: Array<string> = []
        const restore = Effect.fnUntraced(function*(entries: ReadonlyArray<Tar.Entry>) {
          const file = `${at}/crafted.tar`
          yield* Stream.runForEach(
            Stream.pipeThroughChannel(Stream.fromIterable(entries), Tar.encode()),
            (bytes) => fs.writeFile(file, bytes, { flag: "a" })
          )
          return yield* Effect.result(Restore.read(file, empty.connection)).pipe(
            Effect.provideService(Storage, storageOf([], written)),
            Effect.provide(testEnvironment({ ...variables, DATABASE_URL: empty.url })),
            Effect.ensuring(Effect.ignore(fs.remove(file)))
          )
        })
        const hostile = [
          [[Tar.symlink("manifest.json", "/etc/passwd")], "unexpected entry manifest.json"],
          [rest, "is not a backup of this server"],
          [[manifest!, Tar.file("media/../../../../etc/cron.d/evil", "evil")], "unexpected entry media/"],
          [[manifest!, Tar.symlink(`media/${nameOf("a")}`, "/etc/passwd")], "unexpected entry media/"],
          [[manifest!, Tar.file("tables/pg_authid/00000000.json.gz", "x")], "cannot be read"],
          [[manifest!, manifest!], "unexpected entry manifest.json"],
          [good.slice(0, -1), "its end is missing"],
          [[...good.slice(0, -2), good.at(-1)!], "rows or files are missing"],
          [[...good, Tar.file(`media/${nameOf("d")}`, "four")], "unexpected entry media/"]
        ] as const
        for (const [entries, reason] of hostile) {
          const result = yield* restore(entries)
          assert.include(result._tag === "Failure" ? result.failure.message : "restored", reason)
        }
        assert.notInclude(written.join(), "evil")
        const late = Tar.file("tables/accounts/00000000.json.gz", "x")
        const media = [Tar.file(`media/${nameOf("a")}`, "four"), Tar.file(`media/${nameOf("c")}`, "four")]
        for (const [entries, left] of [[[], "no files"], [media, "2 files"]] as const) {
          for (const end of [late, Tar.symlink("manifest.json", "/etc/passwd")]) {
            const result = yield* restore([manifest!, ...entries, end])
            assert.include(result._tag === "Failure" ? result.failure.message : "restored", `no rows and ${left}`)
          }
        }
        assert.strictEqual((yield* restore(good))._tag, "Success")
      }))
  )
})

layer(NodeServices.layer, { excludeTestServices: true })("new files", (it) => {
  it.effect("F259: only the owner can read them, nothing remains of a failure, and a crash's draft is not reused", () =>
    Effect.scoped(Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const at = yield* folder
      yield* fs.writeFileString(`${at}/victim`, "untouched")
      yield* fs.symlink(`${at}/victim`, `${at}/new.part`)
      yield* NewFile.create(`${at}/new`, (put) => put(new TextEncoder().encode("content")))
      assert.strictEqual(yield* fs.readFileString(`${at}/new`), "content")
      assert.strictEqual(Number((yield* fs.stat(`${at}/new`)).mode) & 0o777, 0o600)
      assert.strictEqual(yield* fs.readFileString(`${at}/victim`), "untouched")
      for (const ending of [Effect.fail("no"), Effect.interrupt]) {
        yield* Effect.exit(NewFile.create(`${at}/other`, (put) => Effect.andThen(put(new Uint8Array(9)), ending)))
      }
      assert.deepStrictEqual((yield* fs.readDirectory(at)).toSorted(), ["new", "victim"])
    })))

  it.effect("F315: a file that appears in the meantime is kept, and of two writers of one name none publishes the other's part", () =>
    Effect.scoped(Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const at = yield* folder
      const bytes = (text: string) => new TextEncoder().encode(text)
      const late = yield* Effect.flip(
        NewFile.create(
          `${at}/late`,
          (put) => Effect.andThen(put(bytes("ours")), fs.writeFileString(`${at}/late`, "theirs"))
        )
      )
      assert.include(late.message, "exists already")
      assert.strictEqual(yield* fs.readFileString(`${at}/late`), "theirs")

      const [began, ended] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      const second = NewFile.create(`${at}/both`, (put) =>
        put(bytes("half")).pipe(
          Effect.andThen(Deferred.succeed(began, undefined)),
          Effect.andThen(Deferred.await(ended)),
          Effect.andThen(put(bytes(" and half")))
        ))
      const running = yield* Deferred.make<Fiber.Fiber<void, unknown>>()
      const first = yield* Effect.flip(
        NewFile.create(`${at}/both`, (put) =>
          put(bytes("whole")).pipe(
            Effect.andThen(Effect.forkDetach(second)),
            Effect.flatMap((fiber) => Deferred.succeed(running, fiber)),
            Effect.andThen(Deferred.await(began))
          ))
      )
      assert.include(first.message, "another command writes it")
      assert.isFalse(yield* fs.exists(`${at}/both`))
      yield* Deferred.succeed(ended, undefined)
      yield* Fiber.join(yield* Deferred.await(running))
      assert.strictEqual(yield* fs.readFileString(`${at}/both`), "half and half")
      assert.deepStrictEqual((yield* fs.readDirectory(at)).toSorted(), ["both", "late"])
    })))
})

describe("parts of a backup", () => {
  it("F259: have no more characters than a restore reads, whatever the rows are", () => {
    assert.deepStrictEqual(partsOf([], 4), [])
    assert.deepStrictEqual(partsOf(["ab", "cd", "e", "much too long", "f", "g"], 4), [
      ["ab", "cd"],
      ["e"],
      ["much too long"],
      ["f", "g"]
    ])
  })
})
