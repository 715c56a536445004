import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Console, Effect, Layer } from "effect"
import { Command } from "effect/cli"
import * as RestoreMark from "../layers/backup/RestoreMark.ts"
import * as Database from "../layers/Database.ts"
import { EmbeddedPostgres } from "../layers/EmbeddedPostgres.ts"
import { Environment } from "../layers/Environment.ts"
import * as ForgottenDatabase from "../layers/ForgottenDatabase.ts"
import { traced } from "../services/runtime/Traced.ts"
import { withExamples } from "./Examples.ts"

/** Connection to the configured database, whatever is in it. An embedded one runs while the scope is open. */
export const anyConnection = Effect.gen(function*() {
  const { databaseUrl: url, dataDir } = yield* Environment
  return url === undefined ? yield* embeddedConnection(dataDir) : { url }
})

/** Connection to the embedded database of a data folder, which is created if it is missing. */
export const embeddedConnection = Effect.fnUntraced(function*(dataDir: string) {
  const services = yield* Layer.build(EmbeddedPostgres.layer({ dataDir, adopt: false }))
  return Database.connectionOf(yield* Effect.provide(EmbeddedPostgres, services))
})

/**
 * Connection to the configured database. Refuses an empty one beside an embedded one with accounts, and one whose restore
 * did not end.
 */
export const connection = Effect.gen(function*() {
  const { databaseUrl: url, dataDir } = yield* Environment
  yield* RestoreMark.refuse(dataDir)
  if (url !== undefined) yield* ForgottenDatabase.refuse(url, dataDir)
  return yield* anyConnection
})

export const command = Command.make(
  "migrate",
  {},
  traced("migrate")(function*() {
    const done = yield* Database.migrate(yield* connection)
    yield* Console.log(
      done.length === 0
        ? "The database is up to date."
        : done.map(([id, name]) => `Ran ${String(id).padStart(4, "0")}_${name}`).join("\n")
    )
  }, (effect) =>
    effect.pipe(
      Effect.scoped,
      Effect.provide(Layer.mergeAll(Environment.layer, NodeServices.layer, NodeCrypto.layer))
    ))
).pipe(
  Command.withDescription("Runs pending database migrations, as the server does at its start"),
  withExamples(["", "Brings the database up to date"])
)
