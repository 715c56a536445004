import { Effect, Option, Schema } from "effect"
import { Unzip, UnzipInflate, zipSync } from "fflate"
import { emojiBytesMax } from "../instance/ContentLimits.ts"
import { tarballOf, unpackTarball } from "./EmojiTarballs.ts"

/** Pictures of one archive. */
export const archivedEmojisMax = 1_000
/** Bytes of the list that stands beside the pictures. */
const listBytesMax = 4_194_304
/** Bytes that an archive comes to: pictures are packed already, so that it is hardly larger than itself. */
const unpackedBytesMax = 33_554_432
/** Bytes of the archive that are unpacked at once, before others have their turn: they come to 1,000 times as many at most. */
const stepBytes = 4_096
const listName = "meta.json"

/** A picture of an archive. */
export interface ArchivedEmoji {
  readonly shortcode: string
  readonly category: string | null
  readonly bytes: Uint8Array
}

/** As Misskey and its relatives write what is in an archive. */
const List = Schema.fromJsonString(Schema.Struct({
  emojis: Schema.Array(Schema.Struct({
    fileName: Schema.String,
    emoji: Schema.Struct({ name: Schema.String, category: Schema.optionalKey(Schema.NullOr(Schema.String)) })
  }))
}))
const decodeList = Schema.decodeUnknownOption(List)

/**
 * The files of a zip, those left out that are larger than a picture may be; a step at a time, whatever it claims to hold.
 * Undefined for what is no zip, or comes to more than any archive of pictures.
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

/** The pictures of a zip or tar.gz, by its list, or by their names where it has none; undefined for what is neither. */
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

/** A tar.gz with these pictures alone, which is all that Mastodon's command line takes. */
export const tarballWith = (exportedAt: Date, emojis: ReadonlyArray<Named>) =>
  tarballOf(emojis.map(({ bytes, fileName }) => [fileName, bytes] as const), exportedAt)

/** A zip with these pictures and their list; pictures are packed already. */
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
