import { ByteSize, Effect, FileSystem, Layer, Path, Stream } from "effect"
import {
  isStoredName,
  Storage,
  StorageFailed,
  storageFailed as failed,
  type StoredSize
} from "../../services/media/Storage.ts"
import { traced } from "../../services/runtime/Traced.ts"
import { Environment } from "../Environment.ts"
import * as WorkFolders from "./WorkFolders.ts"
import { writeStream } from "./WrittenStreams.ts"

/**
 * Files in `DATA_DIR/media`. A file is written to a draft and renamed, so that it appears atomically; a draft left by a
 * crash is overwritten or removed under the same name. Only names that this server made become part of a path.
 */
export const layer = Layer.effect(
  Storage,
  Effect.gen(function*() {
    const { dataDir } = yield* Environment
    const fs = yield* FileSystem.FileSystem
    const path = yield* Path.Path
    const root = path.resolve(dataDir, "media")
    const folder = yield* WorkFolders.make(path, path.join(root, "work"))

    const place = (name: string) =>
      isStoredName(name)
        ? Effect.succeed(path.join(root, "files", name))
        : Effect.fail(new StorageFailed({ text: "This is not the name of a stored file" }))

    /** Writes the file `name` atomically; `fill` writes the draft at the path that it gets. */
    const put = <E>(name: string, fill: (draft: string) => Effect.Effect<void, E>) =>
      Effect.gen(function*() {
        const file = yield* place(name)
        const draft = `${file}.part`
        yield* Effect.mapError(fs.makeDirectory(path.dirname(file), { recursive: true, mode: 0o700 }), failed)
        yield* fill(draft).pipe(
          Effect.andThen(Effect.mapError(fs.rename(draft, file), failed)),
          Effect.onError(() => Effect.ignore(fs.remove(draft, { force: true })))
        )
      })

    const copy = (name: string, source: string) =>
      put(name, (draft) => Effect.mapError(fs.copyFile(source, draft), failed))

    /**
     * Links a file under its name. Never as a draft: one that a crash left could be opened for writing, and with it the
     * linked file. The link leads to the file itself, not to a symbolic link.
     */
    const link = Effect.fnUntraced(function*(name: string, source: string) {
      const file = yield* place(name)
      yield* fs.makeDirectory(path.dirname(file), { recursive: true, mode: 0o700 })
      yield* fs.link(yield* fs.realPath(source), file)
    })

    const missing = (error: { readonly reason: { readonly _tag: string } }) => error.reason._tag === "NotFound"

    const sizeOf = Effect.fnUntraced(function*(name: string) {
      const found = yield* fs.stat(yield* place(name)).pipe(
        Effect.catchIf(missing, () => Effect.undefined),
        Effect.mapError(failed)
      )
      return found === undefined || found.type !== "File" ? undefined : Number(found.size)
    })

    const namesIn = (...folders: ReadonlyArray<string>) =>
      fs.readDirectory(path.join(root, ...folders)).pipe(
        Effect.catchIf(missing, () => Effect.succeed([])),
        Effect.mapError(failed)
      )

    return Storage.of({
      write: <E>(name: string, bytes: Stream.Stream<Uint8Array, E>) =>
        put(name, (draft) =>
          Effect.scoped(Effect.gen(function*() {
            const file = yield* Effect.mapError(fs.open(draft, { flag: "w", mode: 0o600 }), failed)
            yield* writeStream(file, bytes)
            yield* Effect.mapError(file.sync, failed)
          }))),
      // Another file system, another user's file, or a file with too many links: it is copied.
      writeFile: traced("Storage.writeFile")((name: string, source: string, isFixed = false) =>
        isFixed ? Effect.catch(link(name, source), () => copy(name, source)) : copy(name, source)
      ),
      size: traced("Storage.size")((name: string) => isStoredName(name) ? sizeOf(name) : Effect.undefined),
      read: (name, { length, offset }) =>
        Stream.unwrap(Effect.map(place(name), (file) =>
          Stream.mapError(
            fs.stream(file, { offset: ByteSize.bytes(offset), bytesToRead: ByteSize.bytes(length) }),
            failed
          ))),
      local: place,
      folder: Effect.mapError(folder, failed),
      remove: traced("Storage.remove")(function*(name: string) {
        const file = yield* place(name)
        yield* Effect.forEach([file, `${file}.part`], (one) => fs.remove(one, { force: true }), { discard: true })
          .pipe(
            Effect.mapError(failed)
          )
      }),
      list: Stream.fromIterableEffect(namesIn("files")).pipe(
        Stream.flatMap((part) =>
          Stream.fromIterableEffect(namesIn("files", part)).pipe(
            Stream.map((file) => `${part}/${file}`)
          )
        ),
        Stream.filter(isStoredName),
        Stream.mapEffect((name) => Effect.map(sizeOf(name), (bytes) => ({ name, bytes }))),
        // Skips a file that was removed since the listing.
        Stream.filter((file): file is StoredSize => file.bytes !== undefined)
      )
    })
  })
)
