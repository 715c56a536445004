import { Effect, FileSystem, Layer, Option } from "effect"
import { FetchHttpClient } from "effect/http"
import * as MastodonBucket from "../layers/MastodonBucket.ts"
import * as MastodonFiles from "../layers/MastodonFiles.ts"
import { OperatorError } from "../layers/OperatorError.ts"
import { environmentCharactersMax, parseEnvironment } from "../services/mastodon/EnvironmentFile.ts"

/** Reads the variables of the Mastodon server. */
export const variablesOf = Effect.fnUntraced(function*(path: string) {
  const fs = yield* FileSystem.FileSystem
  const text = yield* Effect.mapError(
    fs.readFileString(path),
    ({ message }) => new OperatorError({ message: `The environment file cannot be read: ${message}` })
  )
  if (text.length > environmentCharactersMax) {
    return yield* new OperatorError({ message: "The environment file is too long to be one of Mastodon." })
  }
  return parseEnvironment(text)
})

/** Media of the Mastodon server: a folder, `s3://BUCKET/PREFIX`, or none. */
export const layer = ({ env, media }: { readonly env: string; readonly media: Option.Option<string> }) =>
  Option.isSome(media) && MastodonBucket.isBucket(media.value)
    ? Layer.unwrap(
      Effect.gen(function*() {
        const bucket = yield* MastodonBucket.bucketOf(media.value, yield* variablesOf(env))
        return MastodonBucket.layer(bucket).pipe(Layer.provide(FetchHttpClient.layer))
      })
    )
    : MastodonFiles.layer(Option.getOrUndefined(media))
