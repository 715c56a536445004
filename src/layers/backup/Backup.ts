import { Clock, Effect, FileSystem, Stream } from "effect"
import { Tar } from "effect/encoding"
import { Storage, type StoredSize } from "../../services/media/Storage.ts"
import { traced } from "../../services/runtime/Traced.ts"
import type { Connection } from "../Database.ts"
import { Environment } from "../Environment.ts"
import { OperatorError } from "../OperatorError.ts"
import * as Format from "./Format.ts"
import * as Secrets from "./Secrets.ts"
import * as Snapshot from "./Snapshot.ts"

/** Size of a backup. */
export interface Copied {
  readonly rows: number
  readonly files: number
  readonly bytes: number
}

const failed = ({ message }: { readonly message: string }) =>
  new OperatorError({ message: `The backup failed: ${message}` })

/**
 * Writes a backup of database, media and secrets to `file`, while the server runs. The database is that of one moment;
 * `withMedia` false leaves the files out. The file appears when the backup is complete. An existing one is refused.
 */
export const write = traced("Backup.write")(function*(file: string, connection: Connection, withMedia: boolean) {
  const fs = yield* FileSystem.FileSystem
  const { server: { localDomain } } = yield* Environment
  if (yield* fs.exists(file)) return yield* new OperatorError({ message: `${file} exists already` })
  const storage = yield* Storage
  const mtime = new Date(yield* Clock.currentTimeMillis)
  const options = { mode: 0o600, mtime }
  const snapshot = yield* Snapshot.open(connection)
  const copied = { rows: 0, files: 0, bytes: 0 }

  const manifest = Effect.map(Secrets.read(connection), (secrets) =>
    Tar.file(
      Format.manifestName,
      Format.encodeManifest({
        format: 1,
        createdAt: mtime.toISOString(),
        localDomain,
        migration: snapshot.migration,
        tables: snapshot.tables,
        sequences: snapshot.sequences,
        secrets
      }),
      options
    ))
  let number = 0
  const rows = Stream.mapEffect(snapshot.rows, (part) =>
    Effect.map(Format.packRows(part), (bytes) => {
      copied.rows += part.rows.length
      return Tar.file(Format.rowsName(part.table, number++), bytes, options)
    }))
  // Listed after the snapshot: a file is stored before its row is committed.
  const media = withMedia
    ? Stream.map(storage.list, ({ bytes, name }: StoredSize) => {
      copied.files++
      copied.bytes += bytes
      const content = bytes === 0 ? Stream.empty : storage.read(name, { offset: 0, length: bytes })
      return Tar.fileStream(Format.mediaName(name), bytes, content, options)
    })
    : Stream.empty
  const end = Effect.sync(() => Tar.file(Format.endName, Format.encodeEnd(copied), options))

  const part = `${file}.part`
  yield* Stream.fromEffect(manifest).pipe(
    Stream.concat(rows),
    Stream.concat(media),
    Stream.concat(Stream.fromEffect(end)),
    Stream.pipeThroughChannel(Tar.encode()),
    Stream.runForEach(yield* writer(part)),
    Effect.mapError((error) => (error instanceof OperatorError ? error : failed(error))),
    Effect.tapError(() => Effect.ignore(fs.remove(part, { force: true })))
  )
  yield* fs.rename(part, file)
  return copied
}, Effect.scoped)

/** Opens a file for writing, readable by its owner only, that is on the disk when the scope closes. */
const writer = Effect.fnUntraced(function*(path: string) {
  const fs = yield* FileSystem.FileSystem
  const file = yield* fs.open(path, { flag: "w", mode: 0o600 })
  return (chunk: Uint8Array) => file.writeAll(chunk)
})
