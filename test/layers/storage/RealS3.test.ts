import { NodeServices } from "@effect/platform-node"
import { layer } from "@effect/vitest"
import { Effect, FileSystem, Layer } from "effect"
import { FetchHttpClient } from "effect/http"
import { Environment } from "../../../src/layers/Environment.ts"
import * as Requests from "../../../src/layers/storage/s3/Requests.ts"
import * as Storages from "../../../src/layers/storage/Storages.ts"
import { swiftServer } from "../../support/SwiftServer.ts"
import { testEnvironment } from "../../support/TestEnvironment.ts"
import { contract } from "./contract.ts"

const makeBucket = Effect.gen(function*() {
  const { s3 } = yield* Environment
  if (s3 === undefined) return
  const requests = yield* Requests.make(s3)
  yield* requests.need({ method: "PUT" })
}).pipe(Effect.provide(FetchHttpClient.layer))

const Swift = Layer.unwrap(Effect.gen(function*() {
  const variables = yield* swiftServer
  const fs = yield* FileSystem.FileSystem
  const dataDir = yield* fs.makeTempDirectoryScoped({ prefix: "murmuration-storage-" })
  return Storages.layer.pipe(
    Layer.provide(Layer.effectDiscard(makeBucket)),
    Layer.provide(testEnvironment({ ...variables, DATA_DIR: dataDir }))
  )
})).pipe(Layer.provideMerge(NodeServices.layer))

layer(Swift, { excludeTestServices: true })("files in a bucket of OpenStack Swift", (it) => {
  for (const [name, effect] of Object.entries(contract)) it.effect(name, () => effect)
})
