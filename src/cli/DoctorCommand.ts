import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Effect, Layer, Result } from "effect"
import { Command } from "effect/cli"
import * as RestoreMark from "../layers/backup/RestoreMark.ts"
import * as Database from "../layers/Database.ts"
import * as DataFolder from "../layers/embedded/DataFolder.ts"
import { Environment } from "../layers/Environment.ts"
import { OperatorError } from "../layers/OperatorError.ts"
import { existingSigningKey } from "../layers/ServerSecrets.ts"
import { traced } from "../services/runtime/Traced.ts"
import { archiveCheck } from "./doctor/ArchiveChecks.ts"
import { databaseChecks } from "./doctor/DatabaseChecks.ts"
import { type Examination, examined, Fail, lineOf, recordOf, Skip } from "./doctor/Examination.ts"
import { machineChecks } from "./doctor/MachineChecks.ts"
import { mailChecks } from "./doctor/MailChecks.ts"
import { publicChecks } from "./doctor/PublicChecks.ts"
import { serviceChecks } from "./doctor/ServiceChecks.ts"
import { withExamples } from "./Examples.ts"
import { connection } from "./MigrateCommand.ts"
import * as Output from "./Output.ts"

const all = <R>(checks: ReadonlyArray<Examination<R>>) => Effect.forEach(checks, examined, { concurrency: 4 })

/** True if there is no embedded database yet, which is not created for a check. */
const hasNoDatabase = Effect.gen(function*() {
  const { databaseUrl, dataDir } = yield* Environment
  return databaseUrl === undefined && !(yield* DataFolder.exists(yield* DataFolder.of(dataDir)))
})

/** Results of the checks of the database, and the signing key that is stored in it or beside it. */
const ofDatabase = Effect.gen(function*() {
  const refused = yield* Effect.result(RestoreMark.refuse((yield* Environment).dataDir))
  if (Result.isFailure(refused)) {
    const verdict = Fail({ words: refused.failure.message })
    return { results: [{ subject: "Postgres", verdict }], signingKey: undefined }
  }
  if (yield* hasNoDatabase) {
    const words = "this folder never ran a server, which creates its database when it starts"
    return { results: [{ subject: "Postgres", verdict: Skip({ words }) }], signingKey: undefined }
  }
  const opened = yield* Effect.result(
    Effect.map(connection, (to) => Database.client({ ...to, maxConnections: 2 })).pipe(Effect.flatMap(Layer.build))
  )
  if (Result.isFailure(opened)) {
    const verdict = Fail({ words: opened.failure.message })
    return { results: [{ subject: "Postgres", verdict }], signingKey: undefined }
  }
  return yield* Effect.gen(function*() {
    const results = yield* all([...databaseChecks, archiveCheck])
    return { results, signingKey: yield* Effect.orElseSucceed(existingSigningKey, () => undefined) }
  }).pipe(Effect.provide(opened.success))
})

export const command = Command.make(
  "doctor",
  { json: Output.json },
  traced("doctor")(function*({ json }) {
    const machine = yield* all(machineChecks)
    const { results, signingKey } = yield* ofDatabase
    const others = yield* Effect.all([all(serviceChecks), all(publicChecks(signingKey)), all(mailChecks)], {
      concurrency: "unbounded"
    })
    const found = [...machine, ...results, ...others.flat()]
    yield* Output.print(json, found.map(recordOf), found.map(lineOf).join("\n"))
    if (found.some(({ verdict }) => verdict._tag === "Fail")) {
      return yield* new OperatorError({ message: "Some checks failed." })
    }
  }, (effect) =>
    effect.pipe(
      Effect.scoped,
      Effect.provide(Layer.mergeAll(Environment.layer, NodeServices.layer, NodeCrypto.layer))
    ))
).pipe(
  Command.withDescription("Checks the server's configuration, dependencies and public address"),
  withExamples(["", "Checks everything"], [
    "--json",
    "Prints each check with its name, outcome (ok, warn, skip or fail) and message"
  ])
)
