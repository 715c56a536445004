import { NodeServices } from "@effect/platform-node"
import { assert, layer } from "@effect/vitest"
import { Effect, FileSystem } from "effect"
import { PlatformError, SystemError } from "effect/PlatformError"
import * as BaseCopies from "../../src/layers/backup/BaseCopies.ts"
import * as WalArchive from "../../src/layers/embedded/WalArchive.ts"

/** Creates an archive with a base copy for each first segment, and these segments. */
const archiveOf = Effect.fnUntraced(function*(copies: ReadonlyArray<string>, segments: ReadonlyArray<string>) {
  const fs = yield* FileSystem.FileSystem
  const archive = yield* fs.makeTempDirectoryScoped({ prefix: "murmuration-archive-" })
  yield* fs.makeDirectory(WalArchive.walFolder(archive), { recursive: true })
  for (const name of segments) yield* fs.writeFileString(`${WalArchive.walFolder(archive)}/${name}.gz`, "")
  for (const [number, firstSegment] of copies.entries()) {
    const folder = `${BaseCopies.baseFolder(archive)}/2026-01-0${number + 1}`
    yield* fs.makeDirectory(BaseCopies.dataFolder(folder), { recursive: true })
    yield* fs.writeFileString(`${BaseCopies.dataFolder(folder)}/PG_VERSION.gz`, "")
    const manifest = {
      format: 1 as const,
      completedAt: `2026-01-0${number + 1}T00:00:00.000Z`,
      localDomain: "birds.example",
      postgres: "18",
      firstSegment,
      bytes: 0,
      secrets: []
    }
    yield* fs.writeFileString(BaseCopies.manifestFile(folder), BaseCopies.encodeManifest(manifest))
  }
  return archive
})

const namesOf = (archive: string) =>
  Effect.map(BaseCopies.list(archive), (copies) => copies.map(({ completedAt }) => completedAt.slice(0, 10)))

const segment = (number: string, timeline = "00000001") => `${timeline}${number}`

layer(NodeServices.layer, { excludeTestServices: true })("base copies", (it) => {
  it.effect("F351: a copy whose removal was interrupted is not offered for a restore, and is removed the next time", () =>
    Effect.scoped(Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const first = segment("0000000000000002")
      const archive = yield* archiveOf([first, first, first], [first])
      /** Removes one file of a folder and fails, as a process that is killed does. */
      const dying = {
        ...fs,
        remove: (path: string) =>
          Effect.andThen(
            fs.remove(`${path}/data/PG_VERSION.gz`, { force: true }),
            Effect.fail(
              new PlatformError(new SystemError({ _tag: "Unknown", module: "FileSystem", method: "remove" }))
            )
          )
      }
      const removal = BaseCopies.prune(archive, 1).pipe(Effect.provideService(FileSystem.FileSystem, dying))
      assert.isTrue(Effect.isEffect(removal))
      yield* Effect.flip(removal)
      for (const copy of yield* BaseCopies.list(archive)) {
        assert.isTrue(yield* fs.exists(`${BaseCopies.dataFolder(copy.folder)}/PG_VERSION.gz`), copy.name)
      }
      yield* BaseCopies.prune(archive, 1)
      assert.deepStrictEqual(yield* fs.readDirectory(BaseCopies.baseFolder(archive)), ["2026-01-03"])
      assert.deepStrictEqual(yield* namesOf(archive), ["2026-01-03"])
    })))

  it.effect("name the first segment that is missing after a copy", () =>
    Effect.scoped(Effect.gen(function*() {
      const missing = Effect.fnUntraced(function*(first: string, segments: ReadonlyArray<string>) {
        const archive = yield* archiveOf([first], segments)
        const [copy] = yield* BaseCopies.list(archive)
        return copy === undefined ? yield* Effect.die("there is a copy") : yield* BaseCopies.missing(archive, copy)
      })
      const [last, next] = [segment("00000003000000FF"), segment("0000000400000000")]
      assert.isUndefined(yield* missing(last, [segment("0000000300000001"), last, next]), "older ones do not matter")
      assert.isUndefined(yield* missing(last, [last, segment("0000000400000000", "00000002")]), "a new timeline")
      assert.strictEqual(yield* missing(last, [next]), "00000003000000FF")
      assert.strictEqual(yield* missing(last, [last, segment("0000000400000001")]), "0000000400000000")
      assert.strictEqual(yield* missing(last, []), "00000003000000FF")
    })))
})
