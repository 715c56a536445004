import { Effect, Layer } from "effect"
import { FetchHttpClient } from "effect/http"
import { Environment } from "../Environment.ts"
import * as LocalStorage from "./LocalStorage.ts"
import * as S3Storage from "./S3Storage.ts"

/** File storage: on this machine's disk, or in the configured bucket. */
export const layer = Layer.unwrap(
  Effect.map(Environment, ({ dataDir, s3 }) =>
    s3 === undefined
      ? LocalStorage.layer
      : S3Storage.layer(s3, dataDir).pipe(Layer.provide(FetchHttpClient.layer)))
)
