import { Effect, Option, Schema } from "effect"
import { Unzip, UnzipInflate, zipSync } from "fflate"
import { emojiBytesMax } from "../instance/ContentLimits.ts"
import { tarballOf, unpackTarball } from "./EmojiTarballs.ts"

/** Maximum images in an archive. */
export const archivedEmojisMax = 1_000
/** Maximum bytes of the list of emoji. */
const listBytesMax = 4_194_304
/** Maximum unpacked bytes of an archive: images hardly compress, so it is little larger than the archive. */
const unpackedBytesMax = 33_554_432
/** Bytes of the archive that are unpacked before yielding; they expand at most 1,000 times. */
const stepBytes = 4_096
const listName = "meta.json"

/** An image in an archive. */
export interface ArchivedEmoji {
  readonly shortcode: string
  readonly category: string | null
  readonly bytes: Uint8Array
}

/** List of an archive, as written by Misskey and its forks. */
const List = Schema.fromJsonString(Schema.Struct({
  emojis: Schema.Array(Schema.Struct({
    fileName: Schema.String,
    emoji: Schema.Struct({ name: Schema.String, category: Schema.optionalKey(Schema.NullOr(Schema.String)) })
  }))
}))
const decodeList = Schema.decodeUnknownOption(List)

/**
 * Unpacks the files of a zip in steps, whatever sizes it claims; skips files above the size of an image. Undefined if
 * it is not a zip, or exceeds the unpacked bytes.
 */
const unpack = Effect.fnUntraced(function*(archive: Uint8Array) {
  const files = new Map<string, Uint8Array>()
  let unpacked = 0
  const reader = new Unzip((file) => {
    const max = bytesMax(file.name)
    if (file.name.endsWith("/") || files.size > archivedEmojisMax) return
    const parts: Array<Uint8Array> = []
    let bytes = 0
    file.ondata = (error, part, last) => {
      if (error !== null || bytes > max) return
      bytes += part.length
      unpacked += part.length
      if (bytes > max) return file.terminate()
      parts.push(part)
      if (last) files.set(file.name, Buffer.concat(parts))
    }
    file.start()
  })
  reader.register(UnzipInflate)
  for (let at = 0; at < archive.length; at += stepBytes) {
    const step = archive.subarray(at, at + stepBytes)
    const isZip = yield* Effect.try({
      try: () => {
        reader.push(step, at + stepBytes >= archive.length)
        return true
      },
      catch: () => undefined
    }).pipe(Effect.orElseSucceed(() => false))
    if (!isZip || unpacked > unpackedBytesMax) return undefined
    yield* Effect.yieldNow
  }
  return files
})

const picture = /^(?:.*\/)?([A-Za-z0-9_]+)\.(?:png|gif|webp)$/i

const bytesMax = (name: string) => name === listName ? listBytesMax : emojiBytesMax

const filesOf = (archive: Uint8Array) =>
  archive[0] === 0x50 && archive[1] === 0x4b
    ? unpack(archive)
    : archive[0] === 0x1f && archive[1] === 0x8b
    ? unpackTarball(archive, { filesMax: archivedEmojisMax, unpackedBytesMax, stepBytes, bytesMax })
    : Effect.undefined

/** Returns the images of a zip or tar.gz, by its list or by their file names; undefined for any other file. */
export const picturesIn = Effect.fnUntraced(function*(archive: Uint8Array) {
  const files = yield* filesOf(archive)
  if (files === undefined) return undefined
  const list = files.get(listName)
  const named = list === undefined ? Option.none() : decodeList(new TextDecoder().decode(list))
  const found: ReadonlyArray<ArchivedEmoji> = Option.isSome(named)
    ? named.value.emojis.flatMap(({ emoji: { category = null, name }, fileName }) => {
      const bytes = files.get(fileName)
      return bytes === undefined ? [] : [{ shortcode: name, category, bytes }]
    })
    : [...files].flatMap(([path, bytes]) => {
      const [, shortcode] = picture.exec(path) ?? []
      return shortcode === undefined ? [] : [{ shortcode, category: null, bytes }]
    })
  return found.slice(0, archivedEmojisMax)
})

interface Named extends ArchivedEmoji {
  readonly fileName: string
}

/** Returns a tar.gz with only the images: the format that Mastodon's command line accepts. */
export const tarballWith = (exportedAt: Date, emojis: ReadonlyArray<Named>) =>
  tarballOf(emojis.map(({ bytes, fileName }) => [fileName, bytes] as const), exportedAt)

/** Returns a zip with the images and their list, uncompressed: images are compressed already. */
export const archiveOf = (host: string, exportedAt: Date, emojis: ReadonlyArray<Named>): Uint8Array => {
  const list = {
    metaVersion: 2,
    host,
    exportedAt: exportedAt.toISOString(),
    emojis: emojis.map(({ category, fileName, shortcode }) => ({
      downloaded: true,
      fileName,
      emoji: { name: shortcode, category, aliases: [] }
    }))
  }
  return zipSync(
    Object.fromEntries([
      [listName, new TextEncoder().encode(JSON.stringify(list))],
      ...emojis.map(({ bytes, fileName }): [string, Uint8Array] => [fileName, bytes])
    ]),
    { level: 0, mtime: exportedAt }
  )
}
