import { ByteSize, Effect, FileSystem, Option, Semaphore, Stream } from "effect"
import { servedTypes } from "../../../services/media/FileTypes.ts"
import { StorageFailed, storageFailed as failed } from "../../../services/media/Storage.ts"
import type { S3Settings } from "../../environment/S3Settings.ts"
import type { Requests } from "./Requests.ts"
import { encoded } from "./Signature.ts"
import { completion, records, textAt } from "./XmlTexts.ts"

/**
 * Bytes of a part; a larger file is sent in several. S3 needs at least 5 MiB per part, and takes up to 10,000 parts.
 */
const partBytes = 8 * 1_048_576
/** Maximum parts in the memory of this process, over all uploads. */
const partsAtOnceMax = 4

/** Returns the headers that a bucket serves an object with, the same as on our own route (safety row 46). */
const described = (name: string, acl: S3Settings["acl"]): Record<string, string> => {
  const type = servedTypes[name.slice(name.lastIndexOf(".") + 1)]
  return {
    "cache-control": "public, max-age=31536000, immutable",
    ...(type === undefined
      ? { "content-type": "application/octet-stream", "content-disposition": "attachment" }
      : { "content-type": type }),
    ...(acl === undefined ? {} : { "x-amz-acl": acl })
  }
}

/** Uploads files of this machine to a bucket. */
export const make = Effect.fnUntraced(function*(requests: Requests, acl: S3Settings["acl"]) {
  const fs = yield* FileSystem.FileSystem
  const turns = yield* Semaphore.make(partsAtOnceMax)

  /** Reads a part and sends it, within the limit of concurrent parts. */
  const withPart = <A>(
    path: string,
    offset: number,
    length: number,
    send: (part: Uint8Array) => Effect.Effect<A, StorageFailed>
  ) =>
    turns.withPermits(1)(Effect.gen(function*() {
      const part = new Uint8Array(length)
      let filled = 0
      const range = { offset: ByteSize.bytes(offset), bytesToRead: ByteSize.bytes(length) }
      yield* Stream.runForEach(fs.stream(path, range), (chunk) =>
        Effect.sync(() => {
          part.set(chunk, filled)
          filled += chunk.length
        })).pipe(Effect.mapError(failed))
      if (filled < length) return yield* new StorageFailed({ text: "The file became shorter while it was sent" })
      return yield* send(part)
    }))

  const putWhole = (key: string, path: string, size: number) =>
    withPart(path, 0, size, (body) => requests.need({ method: "PUT", key, headers: described(key, acl), body }))

  const abort = (key: string, uploadId: string) => requests.find({ method: "DELETE", key, query: { uploadId } })

  const inParts = Effect.fnUntraced(function*(key: string, path: string, size: number) {
    const initiated = yield* requests.document({
      method: "POST",
      key,
      query: { uploads: "" },
      headers: described(key, acl)
    })
    const uploadId = textAt(initiated, "InitiateMultipartUploadResult/UploadId")
    if (uploadId === undefined) return yield* new StorageFailed({ text: "S3 began no upload" })
    yield* Effect.gen(function*() {
      const offsets = Array.from({ length: Math.ceil(size / partBytes) }, (_, index) => index * partBytes)
      const tags = yield* Effect.forEach(
        offsets,
        (offset, index) =>
          withPart(
            path,
            offset,
            Math.min(partBytes, size - offset),
            (body) => requests.need({ method: "PUT", key, query: { partNumber: String(index + 1), uploadId }, body })
          ).pipe(
            Effect.map(({ headers }) => headers["etag"] ?? "")
          ),
        { concurrency: partsAtOnceMax }
      )
      yield* requests.document({ method: "POST", key, query: { uploadId }, body: completion(tags) })
    }).pipe(
      // The response to the completion may be lost, and a retry then fails because the upload no longer exists. So the
      // object's size decides.
      Effect.catchTag(
        "StorageFailed",
        (failure) =>
          Effect.flatMap(
            requests.find({ method: "HEAD", key }),
            (found) =>
              Option.exists(found, ({ headers }) => headers["content-length"] === String(size))
                ? Effect.void
                : Effect.fail(failure)
          )
      ),
      // An incomplete upload would be kept, invisible but paid for.
      Effect.onError(() => Effect.ignore(abort(key, uploadId)))
    )
  })

  return {
    file: (key: string, path: string) =>
      Effect.flatMap(Effect.mapError(fs.stat(path), failed), ({ size }) =>
        Number(size) > partBytes
          ? inParts(key, path, Number(size))
          : Effect.asVoid(putWhole(key, path, Number(size)))),
    /** Copies an object of the service to a key; false if it refuses, as without the permission to read that object. Fails while it is busy. */
    copy: (key: string, fromBucket: string, fromKey: string) =>
      requests.isDone({
        method: "PUT",
        key,
        headers: {
          ...described(key, acl),
          "x-amz-copy-source": `/${[fromBucket, ...fromKey.split("/")].map(encoded).join("/")}`,
          // Otherwise the copy would have the headers of the other object.
          "x-amz-metadata-directive": "REPLACE"
        }
      }),
    /** Aborts uploads of a key that a killed process never completed; not every S3 service can list them. */
    abandon: (key: string) =>
      Effect.ignore(
        Effect.flatMap(requests.document({ method: "GET", query: { uploads: "", prefix: key } }), (found) =>
          Effect.forEach(
            records(found, "ListMultipartUploadsResult/Upload", ["Key", "UploadId"]),
            ([uploadKey, uploadId = ""]) =>
              uploadKey === key ? abort(key, uploadId) : Effect.void,
            { discard: true }
          ))
      )
  }
})
