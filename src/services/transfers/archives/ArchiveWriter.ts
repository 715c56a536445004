import { Context, Effect, Layer, Schema, Stream, Struct } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { constants, crc32, deflateRawSync } from "node:zlib"
import type { AccountId } from "../../database/Ids.ts"
import { rowsMax } from "../../database/Paging.ts"
import { rowsOf } from "../../database/Rows.ts"
import { noteContext } from "../../federation/documents/NoteDocument.ts"
import { activityStreams } from "../../federation/documents/Vocabulary.ts"
import { LocalActors } from "../../federation/LocalActors.ts"
import { Objects } from "../../federation/Objects.ts"
import { Accounts } from "../../identity/Accounts.ts"
import { ServerConfig } from "../../instance/ServerConfig.ts"
import { uploadExtension } from "../../media/FileTypes.ts"
import { Storage, type StorageFailed } from "../../media/Storage.ts"
import { type FileTooLarge, StoredFiles } from "../../media/StoredFiles.ts"
import { RecordNotFound } from "../../runtime/Errors.ts"
import { traced } from "../../runtime/Traced.ts"
import * as ArchiveDocuments from "./ArchiveDocuments.ts"
import { type ArchivePart, ArchiveParts, type PlacedEntry } from "./ArchiveParts.ts"
import { entryBytesMax, localHeader } from "./ZipFormat.ts"

/** Rows that one step reads: posts, which are rendered, and rows with an id only. */
const postsPerStep = 200
const rowsPerStep = 2_000
/** Bytes of files after which a step ends, and maximum files of a step. */
const fileBytesPerStep = 32 * 1_048_576
const filesPerStep = 100
/** Maximum bytes of a part; a step ends long before. */
const partBytesMax = 1_073_741_824

const postRows = rowsOf(Schema.Struct({ id: Schema.BigInt, localOnly: Schema.Boolean }))
const markedRows = rowsOf(Schema.Struct({ id: Schema.BigInt, statusId: Schema.BigInt }))
const fileRows = rowsOf(
  Schema.Struct({ id: Schema.BigInt, names: Schema.Array(Schema.String), bytes: Schema.BigInt })
)

const phases = ["actor", "outbox", "likes", "bookmarks", "media", "directory", "done"] as const

/** Place of the next step. `above` is the last id that was read, in the current phase. */
export const ArchiveCursor = Schema.Struct({
  phase: Schema.Literals(phases),
  above: Schema.BigIntFromString,
  /** Place of the next part. */
  place: Schema.Int,
  /**
   * Place that is kept for the header of the JSON file that is being written, and its items, checksum and sizes so far:
   * the header is written when they are known. Null between files.
   */
  headPlace: Schema.NullOr(Schema.Int),
  items: Schema.Int,
  crc: Schema.Number,
  size: Schema.Number,
  storedSize: Schema.Number,
  /** Time of the archive, in milliseconds since 1970. */
  millis: Schema.Number
})
export type ArchiveCursor = typeof ArchiveCursor.Type

const fresh = { above: 0n, headPlace: null, items: 0, crc: 0, size: 0, storedSize: 0 }
export const firstCursor = (millis: number): ArchiveCursor => ({ phase: "actor", place: 0, millis, ...fresh })

/** Result of a step, to be committed together with its cursor. */
interface ArchiveStep {
  readonly parts: ReadonlyArray<ArchivePart>
  readonly entries: ReadonlyArray<PlacedEntry>
  readonly cursor: ArchiveCursor
  /** Posts and files that the step added. */
  readonly added: number
}

type StepFailed = SqlError | StorageFailed | FileTooLarge | RecordNotFound

/** Items of a JSON file, and the id up to which they were read; undefined at its end. */
interface Items {
  readonly items: ReadonlyArray<unknown>
  readonly above: bigint | undefined
}

/** The last block of a deflated file: empty. */
const lastBlock = Uint8Array.of(0x03, 0x00)

/**
 * Compresses a part of a file. Parts end at a byte and refer to no earlier part, so that those of several processes make
 * one file; `lastBlock` ends it.
 */
const deflatedPart = (text: Uint8Array) => deflateRawSync(text, { finishFlush: constants.Z_SYNC_FLUSH })

/**
 * Writes archives of accounts in Mastodon's format, a step at a time: a zip with `actor.json`, `outbox.json` (all posts
 * and boosts, also direct and local-only ones), `likes.json`, `bookmarks.json`, the pictures of the profile and the
 * files of the posts. Memory is bounded by one step.
 */
export class ArchiveWriter extends Context.Service<ArchiveWriter, {
  /** Runs the step at a cursor. Files of a step that is not committed are swept. */
  readonly step: (
    account: AccountId,
    transferId: bigint,
    cursor: ArchiveCursor
  ) => Effect.Effect<ArchiveStep, StepFailed>
}>()("murmuration/services/transfers/archives/ArchiveWriter") {
  static readonly layer = Layer.effect(ArchiveWriter, Effect.suspend(() => make))
}

const make = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const accounts = yield* Accounts
  const actors = yield* LocalActors
  const archiveParts = yield* ArchiveParts
  const config = yield* ServerConfig
  const files = yield* StoredFiles
  const objects = yield* Objects
  const storage = yield* Storage

  const posts = Effect.fnUntraced(function*(account: AccountId, above: bigint): Effect.fn.Return<Items, SqlError> {
    const rows = yield* postRows(sql`SELECT id, local_only FROM statuses
      WHERE account_id = ${account} AND local AND deleted_at IS NULL AND id > ${above}
      ORDER BY id LIMIT ${rowsMax(sql, postsPerStep)}`)
    const loaded = yield* objects.loadOwn(rows.map(({ id }) => id))
    const items = rows.flatMap(({ id, localOnly }) => {
      const found = loaded.get(id)
      return found === undefined ? [] : [ArchiveDocuments.activity(config, found.activity, localOnly)]
    })
    return { items, above: rows.length < postsPerStep ? undefined : rows.at(-1)?.id }
  })

  const marked = (table: "favourites" | "bookmarks") =>
    Effect.fnUntraced(function*(account: AccountId, above: bigint): Effect.fn.Return<Items, SqlError> {
      const rows = yield* markedRows(sql`SELECT id, status_id FROM ${sql(table)}
        WHERE account_id = ${account} AND id > ${above} ORDER BY id LIMIT ${rowsMax(sql, rowsPerStep)}`)
      const uris = yield* objects.uris(rows.map(({ statusId }) => statusId))
      const items = rows.flatMap(({ statusId }) => uris.get(statusId) ?? [])
      return { items, above: rows.length < rowsPerStep ? undefined : rows.at(-1)?.id }
    })

  const collections = {
    outbox: { context: noteContext, read: posts },
    likes: { context: activityStreams, read: marked("favourites") },
    bookmarks: { context: activityStreams, read: marked("bookmarks") }
  }

  const nextPhase = (cursor: ArchiveCursor, place: number): ArchiveCursor => ({
    ...cursor,
    ...fresh,
    place,
    phase: phases[phases.indexOf(cursor.phase) + 1] ?? "done"
  })
  const written = (bytes: Stream.Stream<Uint8Array, StorageFailed>) =>
    files.receive(uploadExtension, bytes, partBytesMax)

  /** Writes the next part of a JSON file. */
  const collection = Effect.fnUntraced(function*(
    account: AccountId,
    cursor: ArchiveCursor,
    phase: keyof typeof collections
  ): Effect.fn.Return<ArchiveStep, StepFailed> {
    const { context, read } = collections[phase]
    const path = `${phase}.json`
    const { above, items } = yield* read(account, cursor.above)
    const headPlace = cursor.headPlace ?? cursor.place
    const place = cursor.headPlace === null ? cursor.place + 1 : cursor.place
    const count = cursor.items + items.length
    const text = Buffer.from([
      cursor.headPlace === null ? ArchiveDocuments.collectionStart(path, context) : "",
      ...items.map((item, at) => `${cursor.items + at === 0 ? "" : ","}\n${JSON.stringify(item)}`),
      above === undefined ? ArchiveDocuments.collectionEnd(count) : ""
    ].join(""))
    const bytes = above === undefined ? Buffer.concat([deflatedPart(text), lastBlock]) : deflatedPart(text)
    const { name } = yield* written(Stream.make(bytes))
    const part: ArchivePart = { place, fileName: name, bytes: bytes.length }
    const sums = {
      crc: crc32(text, cursor.crc),
      size: cursor.size + text.length,
      storedSize: cursor.storedSize + bytes.length
    }
    if (above !== undefined) {
      const next = { ...cursor, ...sums, headPlace, above, items: count, place: place + 1 }
      return { parts: [part], entries: [], cursor: next, added: items.length }
    }
    const entry = { path, deflated: true, ...sums }
    return {
      parts: [{ place: headPlace, head: localHeader(entry, new Date(cursor.millis)) }, part],
      entries: [{ ...entry, place: headPlace, offset: 0 }],
      cursor: nextPhase(cursor, place + 1),
      added: items.length
    }
  })

  /** Packs stored files into one part; files that were deleted meanwhile are left out. */
  const packed = Effect.fnUntraced(function*(
    all: ReadonlyArray<{ readonly path: string; readonly name: string }>,
    { millis, place }: ArchiveCursor
  ) {
    const found: Array<PlacedEntry & { readonly name: string }> = []
    const bytesOf = (name: string, size: number) => storage.read(name, { offset: 0, length: size })
    let offset = 0
    for (const { name, path } of all) {
      const size = yield* storage.size(name)
      if (size === undefined || size > entryBytesMax) continue
      const crc = yield* Stream.runFold(bytesOf(name, size), () => 0, (sum, chunk) => crc32(chunk, sum))
      const entry = { path, deflated: false, crc, size, storedSize: size }
      found.push({ ...entry, name, place, offset })
      offset += localHeader(entry, new Date(millis)).length + size
    }
    if (found.length === 0) return { parts: [], entries: [] }
    const { name } = yield* written(
      Stream.fromIterable(found).pipe(
        Stream.flatMap((entry) =>
          Stream.concat(Stream.make(localHeader(entry, new Date(millis))), bytesOf(entry.name, entry.size))
        )
      )
    )
    const parts: ReadonlyArray<ArchivePart> = [{ place, fileName: name, bytes: offset }]
    return { parts, entries: found.map(Struct.omit(["name"])) }
  })

  const profile = Effect.fnUntraced(function*(account: AccountId, cursor: ArchiveCursor) {
    const [record] = yield* accounts.load([account])
    if (record === undefined) return yield* new RecordNotFound()
    const document = ArchiveDocuments.actor(yield* actors.document(yield* accounts.find(account)), record)
    const text = Buffer.from(JSON.stringify(document))
    const sums = { crc: crc32(text), size: text.length, storedSize: text.length }
    const entry = { path: "actor.json", deflated: false, ...sums }
    const head = Buffer.concat([localHeader(entry, new Date(cursor.millis)), text])
    const pictures = yield* packed(ArchiveDocuments.pictures(record), { ...cursor, place: cursor.place + 1 })
    return {
      parts: [{ place: cursor.place, head }, ...pictures.parts],
      entries: [{ ...entry, place: cursor.place, offset: 0 }, ...pictures.entries],
      cursor: nextPhase(cursor, cursor.place + 2),
      added: 0
    }
  })

  const media = Effect.fnUntraced(function*(account: AccountId, cursor: ArchiveCursor) {
    const rows = yield* fileRows(sql`SELECT m.id, array_remove(
          ARRAY[m.file_name, CASE WHEN m.type <> 'image' THEN m.preview_name END], NULL) AS names,
        (SELECT coalesce(sum(f.bytes), 0)::bigint FROM stored_files f WHERE f.media_id = m.id) AS bytes
      FROM media_attachments m WHERE m.account_id = ${account} AND m.id > ${cursor.above} AND m.remote_url IS NULL
        AND EXISTS (SELECT FROM statuses s WHERE s.id = m.status_id AND s.account_id = ${account} AND s.deleted_at IS NULL)
      ORDER BY m.id LIMIT ${rowsMax(sql, filesPerStep)}`)
    let bytes = 0
    // The first file that exceeds the step's bytes is its last.
    const taken = rows.filter((row) => {
      const fits = bytes < fileBytesPerStep
      bytes += Number(row.bytes)
      return fits
    })
    const names = taken.flatMap((row) => row.names)
    const { entries, parts } = yield* packed(
      names.map((name) => ({ path: ArchiveDocuments.mediaPath(name), name })),
      cursor
    )
    const last = taken.at(-1)
    const place = cursor.place + 1
    return {
      parts,
      entries,
      cursor: last === undefined ? nextPhase(cursor, place) : { ...cursor, place, above: last.id },
      added: entries.length
    }
  })

  const directory = Effect.fnUntraced(function*(transferId: bigint, cursor: ArchiveCursor) {
    const { millis, place } = cursor
    const stream = archiveParts.directory(transferId, new Date(millis))
    const { bytes, name } = yield* files.receive(uploadExtension, stream, partBytesMax)
    const parts: ReadonlyArray<ArchivePart> = [{ place, fileName: name, bytes }]
    return { parts, entries: [], cursor: nextPhase(cursor, place + 1), added: 0 }
  })

  const step: ArchiveWriter["Service"]["step"] = (account, transferId, cursor) => {
    switch (cursor.phase) {
      case "actor":
        return profile(account, cursor)
      case "media":
        return media(account, cursor)
      case "directory":
        return directory(transferId, cursor)
      case "done":
        return Effect.succeed({ parts: [], entries: [], cursor, added: 0 })
      default:
        return collection(account, cursor, cursor.phase)
    }
  }
  return ArchiveWriter.of({ step: traced("ArchiveWriter.step")(step) })
})
