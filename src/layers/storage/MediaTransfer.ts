import { Context, Effect, Layer, Result, Stream } from "effect"
import { FetchHttpClient } from "effect/http"
import { Storage } from "../../services/media/Storage.ts"
import { traced } from "../../services/runtime/Traced.ts"
import { Environment } from "../Environment.ts"
import { OperatorError } from "../OperatorError.ts"
import * as LocalStorage from "./LocalStorage.ts"
import * as S3Storage from "./S3Storage.ts"

/** Files that are copied at once. */
const concurrency = 4

/**
 * Copies all stored files from the folder to the bucket of the configuration, or back. Skips files that the target has
 * in full: a file never changes, so an interrupted copy continues where it ended.
 */
export const run = traced("MediaTransfer.run")(function*(target: "bucket" | "folder") {
  const { dataDir, s3 } = yield* Environment
  if (s3 === undefined) {
    return yield* new OperatorError({ message: "Set S3_BUCKET and its keys: they name the bucket." })
  }
  const folder = Context.get(yield* Layer.build(LocalStorage.layer), Storage)
  const bucket = Context.get(
    yield* Layer.build(S3Storage.layer(s3, dataDir).pipe(Layer.provide(FetchHttpClient.layer))),
    Storage
  )
  const [from, to] = target === "bucket" ? [folder, bucket] : [bucket, folder]
  const copied = { files: 0, bytes: 0 }
  const present = { files: 0, bytes: 0 }
  yield* from.list.pipe(
    Stream.mapEffect(
      Effect.fnUntraced(function*({ bytes, name }) {
        const isPresent = (yield* to.size(name)) === bytes
        const content = bytes === 0 ? Stream.empty : from.read(name, { offset: 0, length: bytes })
        const written = isPresent ? Result.succeed(undefined) : yield* Effect.result(to.write(name, content))
        if (Result.isFailure(written)) {
          // The server may have deleted the file since it was listed.
          return (yield* from.size(name)) === undefined ? undefined : yield* written.failure
        }
        const sum = isPresent ? present : copied
        sum.files++
        sum.bytes += bytes
      }),
      { concurrency, unordered: true }
    ),
    Stream.runDrain
  )
  return { copied, present }
}, Effect.scoped)
