import { Effect, FileSystem, Layer, Option, Path, Stream } from "effect"
import {
  type BucketObject,
  isStoredName,
  Storage,
  StorageFailed,
  storageFailed as failed
} from "../../services/media/Storage.ts"
import { traced } from "../../services/runtime/Traced.ts"
import type { S3Settings } from "../environment/S3Settings.ts"
import * as Requests from "./s3/Requests.ts"
import * as Sending from "./s3/SignedRequests.ts"
import { records, textAt } from "./s3/XmlTexts.ts"
import * as WorkFolders from "./WorkFolders.ts"
import { writeStream } from "./WrittenStreams.ts"

const checked = (name: string) =>
  isStoredName(name)
    ? Effect.succeed(name)
    : Effect.fail(new StorageFailed({ text: "This is not the name of a stored file" }))

/**
 * Files in an S3-compatible bucket. S3 needs the length of a body, so an upload is first stored on this machine's disk.
 * A hundred slow uploads must not stay in memory. An upload that breaks off never reaches S3.
 */
export const layer = (settings: S3Settings, dataDir: string) =>
  Layer.effect(
    Storage,
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const requests = yield* Requests.make(settings)
      const sending = yield* Sending.make(requests, settings.acl)
      const path = yield* Path.Path
      const folder = Effect.mapError(
        yield* WorkFolders.make(path, path.resolve(dataDir, "media", "work")),
        failed
      )

      const writeSpoolFile = <E>(file: string, bytes: Stream.Stream<Uint8Array, E>) =>
        Effect.scoped(Effect.gen(function*() {
          const open = yield* Effect.mapError(fs.open(file, { flag: "w", mode: 0o600 }), failed)
          yield* writeStream(open, bytes)
        }))

      const found = (name: string, range: string | undefined) =>
        Stream.unwrap(Effect.gen(function*() {
          const key = yield* checked(name)
          const response = yield* requests.find({ method: "GET", key, ...(range && { headers: { range } }) })
          if (Option.isNone(response)) return yield* new StorageFailed({ text: "The file does not exist" })
          if (range !== undefined && response.value.status !== 206) {
            return yield* new StorageFailed({ text: "S3 returned another byte range than requested" })
          }
          return Stream.mapError(
            response.value.stream,
            () => new StorageFailed({ text: "S3 ended the response early" })
          )
        }))

      const page = (token: string | undefined) =>
        Effect.map(
          requests.document({
            method: "GET",
            query: { "list-type": "2", ...(token !== undefined && { "continuation-token": token }) }
          }),
          (document) => {
            const files = records(document, "ListBucketResult/Contents", ["Key", "Size"])
              .map(([name = "", size]) => ({ name, bytes: Number(size) }))
              .filter(({ name }) => isStoredName(name))
            const next = textAt(document, "ListBucketResult/NextContinuationToken")
            return [files, next === undefined || next === "" ? Option.none() : Option.some(next)] as const
          }
        )

      return Storage.of({
        write: <E>(name: string, bytes: Stream.Stream<Uint8Array, E>) =>
          Effect.scoped(Effect.gen(function*() {
            const file = `${yield* folder}/upload`
            yield* checked(name)
            yield* writeSpoolFile(file, bytes)
            yield* sending.file(name, file)
          })),
        writeFile: traced("Storage.writeFile")((name: string, path: string) =>
          Effect.andThen(checked(name), sending.file(name, path))
        ),
        copyObject: traced("Storage.copyObject")((name: string, { bucket, endpoint, key }: BucketObject) =>
          endpoint === settings.endpoint
            ? Effect.andThen(checked(name), sending.copy(name, bucket, key))
            : Effect.succeed(false)
        ),
        size: traced("Storage.size")(function*(name: string) {
          if (!isStoredName(name)) return undefined
          const response = yield* requests.find({ method: "HEAD", key: name })
          return Option.isNone(response) ? undefined : Number(response.value.headers["content-length"] ?? 0)
        }),
        read: (name, { length, offset }) =>
          length === 0 ? Stream.empty : found(name, `bytes=${offset}-${offset + length - 1}`),
        local: Effect.fnUntraced(function*(name: string) {
          const file = `${yield* folder}/source`
          yield* writeSpoolFile(file, found(name, undefined))
          return file
        }),
        folder,
        remove: traced("Storage.remove")(function*(name: string) {
          yield* checked(name)
          yield* requests.find({ method: "DELETE", key: name })
          yield* sending.abandon(name)
        }),
        list: Stream.paginate<string | undefined, { readonly name: string; readonly bytes: number }, StorageFailed>(
          undefined,
          page
        )
      })
    })
  )
