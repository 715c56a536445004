import { Effect, FileSystem, Schema } from "effect"
import { open } from "node:fs/promises"
import { pipeline } from "node:stream/promises"
import { createGunzip, createGzip } from "node:zlib"
import { traced } from "../../services/runtime/Traced.ts"
import * as WalArchive from "../embedded/WalArchive.ts"
import { StoredSecrets } from "./SecretsCopy.ts"

/*
 * Base copies of the embedded Postgres in an archive of its log (`src/layers/embedded/WalArchive.ts`), a folder each:
 * `manifest.json`, and `data` with the packed files of the Postgres folder.
 */

const Manifest = Schema.Struct({
  format: Schema.Literal(1),
  /** Time from which the database can be restored with this copy. */
  completedAt: Schema.String,
  localDomain: Schema.String,
  /** Major version of Postgres, which alone can read the files. */
  postgres: Schema.String,
  /** First segment of the log that a restore needs. */
  firstSegment: Schema.String,
  /** Bytes of the packed files. */
  bytes: Schema.Int,
  secrets: StoredSecrets
})
type Manifest = typeof Manifest.Type
const StoredManifest = Schema.fromJsonString(Manifest)
export const encodeManifest = Schema.encodeSync(StoredManifest)

/** A complete base copy. */
interface BaseCopy extends Manifest {
  readonly name: string
  readonly folder: string
}

/** Ending of the folder of an incomplete copy. */
export const draftEnding = ".part"

export const baseFolder = (archive: string): string => `${archive}/base`
export const manifestFile = (copy: string): string => `${copy}/manifest.json`
export const dataFolder = (copy: string): string => `${copy}/data`

/** Returns the complete base copies of an archive, oldest first. */
export const list = traced("BaseCopies.list")(function*(archive: string) {
  const fs = yield* FileSystem.FileSystem
  const names = yield* Effect.orElseSucceed(fs.readDirectory(baseFolder(archive)), () => [])
  const found = yield* Effect.forEach(names.filter((name) => !name.endsWith(draftEnding)).toSorted(), (name) => {
    const folder = `${baseFolder(archive)}/${name}`
    return fs.readFileString(manifestFile(folder)).pipe(
      Effect.flatMap(Schema.decodeUnknownEffect(StoredManifest)),
      Effect.map((manifest): ReadonlyArray<BaseCopy> => [{ ...manifest, name, folder }]),
      Effect.orElseSucceed(() => [])
    )
  })
  return found.flat()
})

/** Returns the names of the packed segments of an archive, oldest first, without files of other kinds. */
export const segments = Effect.fnUntraced(function*(archive: string) {
  const fs = yield* FileSystem.FileSystem
  const names = yield* fs.readDirectory(WalArchive.walFolder(archive))
  return names.flatMap((file) => {
    const name = file.endsWith(".gz") ? file.slice(0, -3) : ""
    const number = WalArchive.numberOf(name)
    return number === undefined ? [] : [{ file, name, number }]
  }).toSorted((one, other) => (one.number < other.number ? -1 : 1))
})

/** Removes the drafts that interrupted runs left; needs the lock of base copies. */
export const removeDrafts = traced("BaseCopies.removeDrafts")(function*(archive: string) {
  const fs = yield* FileSystem.FileSystem
  const names = yield* Effect.orElseSucceed(fs.readDirectory(baseFolder(archive)), () => [])
  yield* Effect.forEach(
    names.filter((name) => name.endsWith(draftEnding)),
    (name) => fs.remove(`${baseFolder(archive)}/${name}`, { recursive: true }),
    { discard: true }
  )
})

/** Removes all base copies except the newest `keep`, and the log that only the removed ones needed. */
export const prune = traced("BaseCopies.prune")(function*(archive: string, keep: number) {
  const fs = yield* FileSystem.FileSystem
  const retained = (yield* list(archive)).slice(-keep)
  const oldest = retained[0]
  if (oldest === undefined) return
  const names = yield* fs.readDirectory(baseFolder(archive))
  // Becomes a draft first: an interrupted removal would leave a copy that looks complete.
  yield* Effect.forEach(
    names.filter((name) => !name.endsWith(draftEnding) && name < oldest.name),
    (name) => fs.rename(`${baseFolder(archive)}/${name}`, `${baseFolder(archive)}/${name}${draftEnding}`),
    { discard: true }
  )
  yield* removeDrafts(archive)
  const first = WalArchive.numberOf(oldest.firstSegment) ?? ""
  // Labels of copies and drafts of segments begin with the name of a segment, too.
  const before = (yield* fs.readDirectory(WalArchive.walFolder(archive))).filter((file) =>
    (WalArchive.numberOf(file.slice(0, first.length + 8)) ?? first) < first
  )
  yield* Effect.forEach(before, (file) => fs.remove(`${WalArchive.walFolder(archive)}/${file}`, { force: true }), {
    discard: true
  })
})

/**
 * Returns the first segment that is missing in an archive between the base copy and the newest segment, without its
 * timeline; undefined if the log is whole.
 */
export const missing = Effect.fnUntraced(function*(archive: string, { firstSegment }: BaseCopy) {
  const first = orderOf(WalArchive.numberOf(firstSegment) ?? "")
  const needed = new Set((yield* segments(archive)).map(({ number }) => orderOf(number)).filter((one) => one >= first))
  let next = first
  while (needed.has(next)) next += 1n
  return needed.size > 0 && next - first === BigInt(needed.size) ? undefined : numberAt(next)
})

/** Segments of 16 MiB in one file of 4 GiB of the log; the second half of a number counts them. */
const segmentsPerFile = 256n
const orderOf = (number: string) =>
  BigInt(`0x0${number.slice(0, 8)}`) * segmentsPerFile + BigInt(`0x0${number.slice(8)}`)
const numberAt = (order: bigint) =>
  [order / segmentsPerFile, order % segmentsPerFile].map((part) => part.toString(16).toUpperCase().padStart(8, "0"))
    .join("")

/** Writes a file or a folder to the disk, with its name. */
export const sync = (path: string) =>
  Effect.scoped(
    Effect.flatMap(FileSystem.FileSystem, (fs) => Effect.flatMap(fs.open(path, { flag: "r" }), (file) => file.sync))
  )

/** Packs a file into a new one, which is then on the disk. Returns its bytes; undefined if the source is gone. */
export const pack = (from: string, to: string) =>
  Effect.tryPromise(async (signal) => {
    const source = await open(from).catch((error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") return undefined
      throw error
    })
    if (source === undefined) return undefined
    const target = await open(to, "wx", 0o600)
    const output = target.createWriteStream({ flush: true })
    await pipeline(source.createReadStream(), createGzip({ level: 1 }), output, { signal })
    return output.bytesWritten
  })

/** Unpacks a file into a new one. Postgres writes all of its folder to the disk before it replays a log. */
export const unpack = (from: string, to: string) =>
  Effect.tryPromise(async (signal) => {
    const source = await open(from)
    const target = await open(to, "wx", 0o600)
    await pipeline(source.createReadStream(), createGunzip(), target.createWriteStream(), { signal })
  })
