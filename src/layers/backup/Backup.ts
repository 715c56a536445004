import { Clock, Effect, Result, Sink, Stream } from "effect"
import { Tar } from "effect/encoding"
import { Storage, type StoredSize } from "../../services/media/Storage.ts"
import { traced } from "../../services/runtime/Traced.ts"
import type { Connection } from "../Database.ts"
import { Environment } from "../Environment.ts"
import { OperatorError } from "../OperatorError.ts"
import * as Format from "./Format.ts"
import * as NewFile from "./NewFile.ts"
import * as SecretsCopy from "./SecretsCopy.ts"
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
  const { server: { localDomain } } = yield* Environment
  const storage = yield* Storage
  const mtime = new Date(yield* Clock.currentTimeMillis)
  const options = { mode: 0o600, mtime }
  const snapshot = yield* Snapshot.open(connection)
  const copied = { rows: 0, files: 0, bytes: 0 }

  const manifest = Effect.map(SecretsCopy.read(connection), (secrets) =>
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
  const mediaEntry = ({ bytes, name }: StoredSize) =>
    Stream.unwrap(Effect.gen(function*() {
      const content = bytes === 0 ? Stream.empty : storage.read(name, { offset: 0, length: bytes })
      // Opened before its header is written: the server may have deleted the file since it was listed.
      const opened = yield* Effect.result(Stream.peel(content, Sink.take(1)))
      if (Result.isFailure(opened)) {
        return (yield* storage.size(name)) === undefined ? Stream.empty : yield* opened.failure
      }
      const [head, rest] = opened.success
      copied.files++
      copied.bytes += bytes
      return Stream.succeed(
        Tar.fileStream(Format.mediaName(name), bytes, Stream.concat(Stream.fromIterable(head), rest), options)
      )
    }))
  // Listed after the snapshot: a file is stored before its row is committed.
  const media = withMedia ? Stream.flatMap(storage.list, mediaEntry) : Stream.empty
  const end = Effect.sync(() => Tar.file(Format.endName, Format.encodeEnd(copied), options))

  yield* NewFile.create(file, (put) =>
    Stream.fromEffect(manifest).pipe(
      Stream.concat(rows),
      Stream.concat(media),
      Stream.concat(Stream.fromEffect(end)),
      Stream.pipeThroughChannel(Tar.encode()),
      Stream.runForEach(put)
    )).pipe(Effect.mapError((error) => (error instanceof OperatorError ? error : failed(error))))
  return copied
}, Effect.scoped)
