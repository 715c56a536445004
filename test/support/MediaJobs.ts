import { NodeCrypto, NodeServices } from "@effect/platform-node"
import { Effect, FileSystem, Layer, Stream } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { Environment } from "../../src/layers/Environment.ts"
import * as LocalStorage from "../../src/layers/storage/LocalStorage.ts"
import { MediaId } from "../../src/services/database/Ids.ts"
import { Broadcast } from "../../src/services/events/Broadcast.ts"
import { FileOwners } from "../../src/services/media/FileOwners.ts"
import { sniff } from "../../src/services/media/FileTypes.ts"
import { MediaAttachments } from "../../src/services/media/MediaAttachments.ts"
import { MediaJobs } from "../../src/services/media/MediaJobs.ts"
import { sizeOf } from "../../src/services/media/MediaRecord.ts"
import { type MediaRefused, type MediaToolFailed, MediaTools } from "../../src/services/media/MediaTools.ts"
import { StoredFiles, unheldMillisMax } from "../../src/services/media/StoredFiles.ts"
import { person } from "./People.ts"
import { TestDatabase } from "./TestDatabase.ts"
import { testEnvironment } from "./TestEnvironment.ts"

/** Settings with a temporary folder for the test. */
export const environment = Layer.unwrap(
  Effect.map(
    Effect.flatMap(FileSystem.FileSystem, (fs) => fs.makeTempDirectoryScoped({ prefix: "murmuration-media-" })),
    (dataDir) => testEnvironment({ DATA_DIR: dataDir })
  )
)

/** Services that media jobs need, over the test's own database and folder. */
export const layerJobs = Layer.mergeAll(MediaAttachments.layer, MediaJobs.layer).pipe(
  Layer.provideMerge(StoredFiles.layer),
  Layer.provideMerge(Layer.mergeAll(Broadcast.layerMemory, FileOwners.layer, LocalStorage.layer)),
  Layer.provideMerge(Layer.mergeAll(TestDatabase.layer, environment, NodeCrypto.layer)),
  Layer.provideMerge(NodeServices.layer)
)

/** A tool that writes two files; `first` runs before each. */
export const tools = (first: Effect.Effect<void, MediaRefused | MediaToolFailed> = Effect.void) =>
  Effect.map(FileSystem.FileSystem, (fs) =>
    MediaTools.of({
      measure: () => Effect.succeed(undefined),
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
      profilePicture: () => Effect.die("unused"),
      likeness: () => Effect.die("unused")
    }))

const head = Uint8Array.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 13, 0x49, 0x48, 0x44, 0x52])

/** Uploads a file that is still unprocessed. */
export const upload = Effect.gen(function*() {
  const owner = yield* person(`p${Math.random().toString(36).slice(2, 12)}`)
  const { bytes, name } = yield* (yield* StoredFiles).receive("upload", Stream.make(head), 100)
  const attachments = yield* MediaAttachments
  const id = yield* attachments.create(owner, {
    upload: { name, bytes, type: yield* sniff(head) },
    thumbnail: undefined
  })
  return { owner, id: MediaId.make(id), attachments }
})

export const states = Effect.fnUntraced(function*(id: bigint) {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql<{ state: string; attempts: number; error: string | null }>`
    SELECT state, attempts, error FROM media_attachments WHERE id = ${id}`
  return row!
})

/** Runs the sweep an hour later; returns the files on disk, the ledger's rows, and the files that have an owner. */
export const remainingFiles = Effect.gen(function*() {
  yield* TestClock.adjust(unheldMillisMax + 1)
  const files = yield* StoredFiles
  while ((yield* files.sweep) > 0);
  yield* TestClock.adjust(unheldMillisMax + 1)
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
