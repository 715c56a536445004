import { Clock, Context, Effect, Layer, Schema, Stream } from "effect"
import { SqlClient } from "effect/sql"
import type { AccountId } from "../database/Ids.ts"
import { rowsMax } from "../database/Paging.ts"
import { rowsOf } from "../database/Rows.ts"
import { transaction } from "../database/Transactions.ts"
import { emojiBytesMax } from "../instance/ContentLimits.ts"
import { ServerConfig } from "../instance/ServerConfig.ts"
import { type NotAllowed, Unavailable, type Unprocessable, validationFailed } from "../runtime/Errors.ts"
import { traced } from "../runtime/Traced.ts"
import { AuditLog } from "../staff/AuditLog.ts"
import { requirePermission } from "../staff/Rank.ts"
import { type ArchivedEmoji, archivedEmojisMax, archiveOf, picturesIn, tarballWith } from "./EmojiArchiveFiles.ts"
import { Emojis } from "./Emojis.ts"
import { sniff, uploadExtension } from "./FileTypes.ts"
import { Storage } from "./Storage.ts"
import { StoredFiles } from "./StoredFiles.ts"

/** Maximum bytes of an archive to import. */
export const emojiArchiveBytesMax = 16 * 1_048_576

const ownRows = rowsOf(Schema.Struct({
  shortcode: Schema.String,
  category: Schema.NullOr(Schema.String),
  fileName: Schema.String
}))

/** Result of an import. */
interface Imported {
  readonly added: number
  /** Shortcodes that were not added, with reasons. */
  readonly refused: ReadonlyArray<{ readonly shortcode: string; readonly reason: string }>
}

/**
 * Export and import of this server's emoji, as archives that other servers know: a zip with the images and a list, or a
 * tar.gz with only the images.
 */
export class EmojiArchives extends Context.Service<EmojiArchives, {
  readonly write: (by: AccountId, form: "zip" | "tar.gz") => Effect.Effect<Uint8Array, NotAllowed | Unavailable>
  /** Adds the emoji that do not exist yet; `name` is of a stored file. */
  readonly read: (by: AccountId, name: string) => Effect.Effect<Imported, NotAllowed | Unprocessable | Unavailable>
}>()("murmuration/services/media/EmojiArchives") {
  static readonly layer = Layer.effect(EmojiArchives, Effect.suspend(() => make)).pipe(Layer.provide(AuditLog.layer))
}

const make = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const audit = yield* AuditLog
  const emojis = yield* Emojis
  const files = yield* StoredFiles
  const storage = yield* Storage
  const { localDomain } = yield* ServerConfig

  const bytesOf = (name: string, length: number) =>
    Effect.map(Stream.runCollect(storage.read(name, { offset: 0, length })), (parts) => Buffer.concat([...parts]))
  const unread = () => new Unavailable()

  const logged = (by: AccountId, action: "export" | "import", count: number) =>
    Effect.gen(function*() {
      yield* requirePermission(sql)(by, "manageCustomEmojis")
      yield* audit.record({ by, action, target: { type: "customEmoji", label: localDomain }, after: { count } })
    }).pipe(transaction(sql), Effect.catchTag("SqlError", Effect.die))

  const write = traced("EmojiArchives.write")(function*(by: AccountId, form: "zip" | "tar.gz") {
    const rows = yield* Effect.orDie(ownRows(sql`SELECT shortcode, category, file_name FROM custom_emojis
      WHERE domain IS NULL AND file_name IS NOT NULL ORDER BY shortcode LIMIT ${rowsMax(sql, archivedEmojisMax)}`))
    yield* logged(by, "export", rows.length)
    const packed = yield* Effect.forEach(
      rows,
      ({ category, fileName, shortcode }) =>
        Effect.map(bytesOf(fileName, emojiBytesMax * 4), (bytes) => ({
          shortcode,
          category,
          bytes,
          fileName: `${shortcode}${fileName.slice(fileName.lastIndexOf("."))}`
        }))
    ).pipe(Effect.mapError(unread))
    const at = new Date(yield* Clock.currentTimeMillis)
    return form === "zip" ? archiveOf(localDomain, at, packed) : yield* tarballWith(at, packed)
  })

  const add = (by: AccountId, { bytes, category, shortcode }: ArchivedEmoji) =>
    Effect.gen(function*() {
      const { head, name } = yield* files.receive(uploadExtension, Stream.make(bytes), emojiBytesMax)
      return yield* Effect.gen(function*() {
        const type = yield* sniff(head)
        if (type === undefined) return yield* validationFailed("Image content type is invalid")
        const emoji = { shortcode, category: category?.trim() || null, listed: true }
        return yield* emojis.add(by, emoji, { path: yield* storage.local(name), type })
      }).pipe(Effect.ensuring(files.discard([name])))
    }).pipe(Effect.scoped, Effect.catchTag("SqlError", Effect.die))

  const read = traced("EmojiArchives.read")(function*(by: AccountId, name: string) {
    const archive = yield* Effect.mapError(bytesOf(name, emojiArchiveBytesMax), unread)
    const pictures = yield* picturesIn(archive)
    if (pictures === undefined || pictures.length === 0) return yield* validationFailed("File is invalid")
    yield* logged(by, "import", pictures.length)
    const refused: Array<Imported["refused"][number]> = []
    for (const one of pictures) {
      yield* Effect.catch(
        add(by, one),
        ({ message }) => Effect.sync(() => refused.push({ shortcode: one.shortcode, reason: message }))
      )
    }
    return { added: pictures.length - refused.length, refused }
  })

  return EmojiArchives.of({ write, read })
})
