import { NodeCrypto, NodeServices } from "@effect/platform-node"
import { assert, layer } from "@effect/vitest"
import { Effect, FileSystem, Layer, Stream } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import * as Pipeline from "../../../src/actors/media/Pipeline.ts"
import { Environment } from "../../../src/layers/Environment.ts"
import * as LocalStorage from "../../../src/layers/storage/LocalStorage.ts"
import { MediaId } from "../../../src/services/Ids.ts"
import { sniff } from "../../../src/services/media/FileTypes.ts"
import { Holdings } from "../../../src/services/media/Holdings.ts"
import { MediaAttachments } from "../../../src/services/media/MediaAttachments.ts"
import { sizeOf } from "../../../src/services/media/MediaRecord.ts"
import { MediaRefused, MediaToolFailed, MediaTools } from "../../../src/services/media/MediaTools.ts"
import { attemptsMax, Processings } from "../../../src/services/media/Processings.ts"
import { Storage, StorageFailed } from "../../../src/services/media/Storage.ts"
import { StoredFiles, unheldMillisMax } from "../../../src/services/media/StoredFiles.ts"
import { person } from "../../support/People.ts"
import { TestDatabase } from "../../support/TestDatabase.ts"
import { testEnvironment } from "../../support/TestEnvironment.ts"

const environment = Layer.unwrap(
  Effect.map(
    Effect.flatMap(FileSystem.FileSystem, (fs) => fs.makeTempDirectoryScoped({ prefix: "murmuration-media-" })),
    (dataDir) => testEnvironment({ DATA_DIR: dataDir })
  )
)

const Live = Layer.mergeAll(MediaAttachments.layer, Processings.layer).pipe(
  Layer.provideMerge(StoredFiles.layer),
  Layer.provideMerge(Layer.mergeAll(Holdings.layer, LocalStorage.layer)),
  Layer.provideMerge(Layer.mergeAll(TestDatabase.layer, environment, NodeCrypto.layer)),
  Layer.provideMerge(NodeServices.layer)
)

/** A tool that writes two files; `first` runs before each. */
const tools = (first: Effect.Effect<void, MediaRefused | MediaToolFailed> = Effect.void) =>
  Effect.map(FileSystem.FileSystem, (fs) =>
    MediaTools.of({
      types: new Set(["image/png"]),
      attachment: Effect.fnUntraced(function*(_source, folder) {
        const write = (name: string) =>
          Effect.as(Effect.orDie(fs.writeFileString(`${folder}/${name}.png`, name)), {
            path: `${folder}/${name}.png`,
            extension: "png" as const,
            bytes: name.length
          })
        yield* first
        const original = yield* write("original")
        yield* first
        const preview = yield* write("small")
        return { type: "image", original, preview, meta: { original: sizeOf(1, 1) }, blurhash: null }
      }),
      preview: () => Effect.die("unused"),
      profilePicture: () => Effect.die("unused")
    }))

const head = Uint8Array.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 13, 0x49, 0x48, 0x44, 0x52])

/** A file that waits to be worked on. */
const upload = Effect.gen(function*() {
  const owner = yield* person(`p${Math.random().toString(36).slice(2, 12)}`)
  const { bytes, name } = yield* (yield* StoredFiles).receive("upload", Stream.make(head), 100)
  const attachments = yield* MediaAttachments
  const id = yield* attachments.create(owner, { upload: { name, bytes, type: sniff(head) }, thumbnail: undefined })
  return { owner, id: MediaId.make(id), attachments }
})

const states = Effect.fnUntraced(function*(id: bigint) {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql<{ state: string; attempts: number; error: string | null }>`
    SELECT state, attempts, error FROM media_attachments WHERE id = ${id}`
  return row!
})

/** After the sweep of an hour later: files on disk, rows of the ledger, and files that somebody holds. */
const leftovers = Effect.gen(function*() {
  yield* TestClock.adjust(unheldMillisMax + 1)
  const files = yield* StoredFiles
  while ((yield* files.sweep) > 0);
  const sql = yield* SqlClient.SqlClient
  const fs = yield* FileSystem.FileSystem
  const { dataDir } = yield* Environment
  const onDisk = (yield* fs.readDirectory(`${dataDir}/media/files`, { recursive: true })).filter((name) =>
    name.includes(".")
  )
  const ledger = yield* sql<{ name: string }>`SELECT name FROM stored_files`
  const held = yield* sql<{ name: string }>`SELECT unnest(ARRAY[file_name, preview_name, upload_name]) AS name
    FROM media_attachments`
  const names = (rows: ReadonlyArray<{ readonly name: string | null }>) => rows.flatMap(({ name }) => name ?? []).sort()
  return { onDisk: onDisk.sort(), ledger: names(ledger), held: names(held) }
})

const run = (id: MediaId, made: MediaTools["Service"]) =>
  Effect.flatMap(Pipeline.make.pipe(Effect.provideService(MediaTools, made)), (pipeline) => pipeline.run(id))

layer(Live)("the steps of a media job", (it) => {
  it.effect("killed before, in or after any step, it goes on to its end and leaves no file behind", () =>
    Effect.gen(function*() {
      const storage = yield* Storage
      const good = yield* tools()
      let killed = 0
      for (let step = 0; step < 20; step++) {
        const { id } = yield* upload
        let steps = 0
        const count = Effect.suspend(() => ++steps > step ? Effect.die("killed") : Effect.void)
        const dying: Storage["Service"] = {
          ...storage,
          writeFile: (name, path) => count.pipe(Effect.andThen(storage.writeFile(name, path)), Effect.andThen(count)),
          local: (name) => Effect.andThen(count, storage.local(name)),
          folder: Effect.andThen(count, storage.folder)
        }
        const exit = yield* run(id, yield* tools(count)).pipe(
          Effect.provide(Layer.fresh(StoredFiles.layer).pipe(Layer.provide(Layer.succeed(Storage, dying)))),
          Effect.provideService(Storage, dying),
          Effect.exit
        )
        if (exit._tag === "Failure") {
          killed++
          assert.strictEqual((yield* states(id)).state, "processing")
        }
        yield* run(id, good)
        assert.strictEqual((yield* states(id)).state, "ready", `killed at step ${step}`)
      }
      assert.strictEqual(killed, 8)
      const { held, ledger, onDisk } = yield* leftovers
      assert.deepStrictEqual(onDisk, held)
      assert.deepStrictEqual(ledger, held)
      assert.lengthOf(held, 40)
    }))

  it.effect("row 45: a decoder that crashes every time is tried three times, one that refuses once; then it has failed", () =>
    Effect.gen(function*() {
      const { id } = yield* upload
      let tries = 0
      const crash = Effect.suspend(() => {
        tries++
        return Effect.fail(new MediaToolFailed({ text: "SIGSEGV" }))
      })
      yield* run(id, yield* tools(crash))
      assert.strictEqual(tries, attemptsMax)
      assert.deepInclude(yield* states(id), { state: "failed", error: Pipeline.processingFailed })
      const other = yield* upload
      yield* run(other.id, yield* tools(Effect.fail(new MediaRefused({ text: "1x1 images are not supported" }))))
      assert.deepStrictEqual(yield* states(other.id), {
        state: "failed",
        attempts: 1,
        error: "1x1 images are not supported"
      })
      const { held, onDisk } = yield* leftovers
      assert.deepStrictEqual(onDisk, held)
    }))

  it.effect("a file that takes its node with it each time fails in the end, and costs no fourth node", () =>
    Effect.gen(function*() {
      const { id } = yield* upload
      const deadly = yield* tools(Effect.die("killed"))
      for (let node = 0; node < attemptsMax; node++) yield* Effect.exit(run(id, deadly))
      assert.deepInclude(yield* states(id), { state: "processing", attempts: attemptsMax })
      yield* run(id, deadly)
      assert.strictEqual((yield* states(id)).state, "failed")
    }))

  it.effect("an attempt that was thought dead changes nothing when it comes back", () =>
    Effect.gen(function*() {
      const { id } = yield* upload
      const processings = yield* Processings
      const late = (yield* processings.begin(id))!
      yield* run(id, yield* tools())
      const before = yield* states(id)
      const outcome = { type: "image" as const, fileName: "x", previewName: null, meta: {}, blurhash: null }
      assert.isFalse(yield* processings.finish(id, late, outcome))
      yield* processings.fail(id, late, "late")
      assert.deepStrictEqual(yield* states(id), before)
    }))

  it.effect("a storage that is away costs no attempt; the job waits and is found", () =>
    Effect.gen(function*() {
      const { id } = yield* upload
      const processings = yield* Processings
      const storage = yield* Storage
      const away: Storage["Service"] = { ...storage, local: () => Effect.fail(new StorageFailed({ text: "away" })) }
      yield* run(id, yield* tools()).pipe(Effect.provideService(Storage, away), Effect.exit)
      assert.deepInclude(yield* states(id), { state: "queued", attempts: 0 })
      yield* TestClock.adjust("11 seconds")
      assert.deepStrictEqual(yield* processings.stale(10), [id])
    }))

  it.effect("what no post took for a day is removed with its files", () =>
    Effect.gen(function*() {
      const { attachments, id, owner } = yield* upload
      yield* run(id, yield* tools())
      yield* TestClock.adjust("23 hours")
      yield* attachments.sweep
      assert.strictEqual((yield* attachments.find(owner, id)).state, "ready")
      yield* TestClock.adjust("2 hours")
      assert.isAbove(yield* attachments.sweep, 0)
      assert.strictEqual((yield* Effect.flip(attachments.find(owner, id)))._tag, "RecordNotFound")
      const { held, ledger, onDisk } = yield* leftovers
      assert.deepStrictEqual([onDisk, ledger, held], [[], [], []])
    }))
})
