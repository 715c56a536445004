import { Effect, FileSystem, Stream } from "effect"
import { Tar } from "effect/encoding"
import { isStoredName, Storage } from "../../services/media/Storage.ts"
import { traced } from "../../services/runtime/Traced.ts"
import { type Connection, newestMigration } from "../Database.ts"
import { Environment } from "../Environment.ts"
import { OperatorError } from "../OperatorError.ts"
import type { Copied } from "./Backup.ts"
import * as Format from "./Format.ts"
import * as Loading from "./Loading.ts"
import * as SecretsCopy from "./SecretsCopy.ts"

const refused = (message: string) => new OperatorError({ message })
/** Media are written as they are read, and rows are committed at the end. */
const failed = ({ message }: { readonly message: string }, files: number) =>
  refused(
    `The restore failed: ${message}. It added no rows and ${
      files === 0 ? "no files" : `${files} files`
    } to the target` +
      (files === 0 ? "" : ", which it overwrites if it is repeated")
  )

/** Fails if the file or folder of a backup cannot be read; the commands of a package do not run as root. */
export const requireReadable = Effect.fnUntraced(function*(file: string) {
  const fs = yield* FileSystem.FileSystem
  yield* Effect.mapError(fs.access(file, { readable: true }), ({ reason: { _tag } }) =>
    refused(
      _tag === "NotFound"
        ? `${file} does not exist`
        : `${file} cannot be read by the user that the server runs as: give it to this user`
    ))
})

/** Returns the bytes of an entry, within the limit. */
const bytesOf = Effect.fnUntraced(function*<E>({ body, header: { path, size } }: Tar.Entry<E>) {
  if (size > Format.partBytesMax) return yield* refused(`The backup is damaged: ${path} has ${size} bytes`)
  return Buffer.concat([...(yield* Stream.runCollect(body))])
})

/**
 * Restores a backup into an empty database and its media into the storage. The database is committed when the archive
 * was read to its end, so an interrupted restore can be repeated. `touched` runs before the first row or file is written.
 */
export const read = traced("Restore.read")(function*(
  file: string,
  connection: Connection,
  touched: Effect.Effect<void> = Effect.void
) {
  const fs = yield* FileSystem.FileSystem
  const storage = yield* Storage
  const { dataDir, databaseUrl, server: { localDomain } } = yield* Environment
  const copied = { rows: 0, files: 0, bytes: 0 }
  let opened:
    | { readonly manifest: Format.Manifest; readonly loading: Effect.Success<ReturnType<typeof Loading.open>> }
    | undefined
  let isComplete = false

  const begin = Effect.fnUntraced(function*(bytes: Uint8Array) {
    const manifest = yield* Format.decodeManifest(bytes)
    const newest = yield* newestMigration
    if (manifest.migration > newest) {
      return yield* refused(
        `The backup was made by a newer version (migration ${manifest.migration}, this one has ${newest}). Upgrade first.`
      )
    }
    if (manifest.localDomain !== localDomain) {
      return yield* refused(
        `The backup is of ${manifest.localDomain}, this server is ${localDomain}. Set LOCAL_DOMAIN and PUBLIC_URL as before.`
      )
    }
    yield* SecretsCopy.refuseOtherKey(manifest.secrets)
    opened = { manifest, loading: yield* Loading.open(connection, manifest) }
    yield* touched
  })

  const accept = Effect.fnUntraced(function*<E>(entry: Tar.Entry<E>) {
    const { path, size, type } = entry.header
    if (type !== "File" || isComplete) return yield* refused(`The backup is damaged: unexpected entry ${path}`)
    if (opened === undefined) {
      if (path !== Format.manifestName) return yield* refused(`${file} is not a backup of this server`)
      return yield* begin(yield* bytesOf(entry))
    }
    const table = Format.tableIn(path)
    if (table !== undefined) {
      const rows = yield* Format.unpackRows(path, yield* bytesOf(entry))
      copied.rows += rows.length
      return yield* opened.loading.load({ table, rows })
    }
    const name = Format.fileIn(path)
    if (name !== undefined && isStoredName(name)) {
      yield* storage.write(name, entry.body)
      copied.files++
      copied.bytes += size
      return
    }
    if (path !== Format.endName) return yield* refused(`The backup is damaged: unexpected entry ${path}`)
    const end = yield* Format.decodeEnd(yield* bytesOf(entry))
    if (end.rows !== copied.rows || end.files !== copied.files) {
      return yield* refused("The backup is damaged: rows or files are missing")
    }
    isComplete = true
  })

  yield* fs.stream(file).pipe(
    Stream.pipeThroughChannel(Tar.decode()),
    Stream.runForEach(accept),
    Effect.mapError((error) =>
      opened === undefined && error instanceof OperatorError ? error : failed(error, copied.files)
    )
  )
  if (opened === undefined || !isComplete) {
    return yield* failed({ message: "The backup is incomplete: its end is missing" }, copied.files)
  }
  const { loading, manifest } = opened
  if (databaseUrl === undefined) yield* SecretsCopy.writeFiles(dataDir, manifest.secrets)
  else yield* loading.keepSecrets(manifest.secrets, new Date(manifest.createdAt))
  yield* loading.finish
  return copied satisfies Copied
}, Effect.scoped)
