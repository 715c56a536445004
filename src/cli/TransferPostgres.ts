import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Clock, Console, Effect, Layer, Stream } from "effect"
import { Command } from "effect/cli"
import * as Loading from "../layers/backup/Loading.ts"
import * as SecretsCopy from "../layers/backup/SecretsCopy.ts"
import * as Snapshot from "../layers/backup/Snapshot.ts"
import * as DataFolder from "../layers/embedded/DataFolder.ts"
import { Environment } from "../layers/Environment.ts"
import { OperatorError } from "../layers/OperatorError.ts"
import { traced } from "../services/runtime/Traced.ts"
import { withExamples } from "./Examples.ts"
import { embeddedConnection } from "./MigrateCommand.ts"

export const command = Command.make(
  "postgres",
  {},
  traced("transfer postgres")(function*() {
    const { databaseUrl, dataDir } = yield* Environment
    if (databaseUrl === undefined) {
      return yield* new OperatorError({ message: "Set DATABASE_URL to an empty database: it is the target." })
    }
    if (!(yield* DataFolder.exists(yield* DataFolder.of(dataDir)))) {
      return yield* new OperatorError({ message: `There is no embedded database in ${dataDir} (DATA_DIR)` })
    }
    const snapshot = yield* Snapshot.open(yield* embeddedConnection(dataDir))
    yield* snapshot.refuseRunningServer
    const secrets = yield* SecretsCopy.inFolder(dataDir)
    yield* SecretsCopy.refuseOtherKey(secrets)
    const loading = yield* Loading.open({ url: databaseUrl }, snapshot)
    let rows = 0
    yield* Stream.runForEach(snapshot.rows, (part) =>
      Effect.map(loading.load(part), () => {
        rows += part.rows.length
      }))
    yield* loading.keepSecrets(secrets, new Date(yield* Clock.currentTimeMillis))
    yield* loading.finish
    yield* Console.log(
      `Copied ${rows} rows. Start the server with DATABASE_URL. The embedded database is unchanged: move it away when ` +
        "the server has run for a while. Files stay in DATA_DIR."
    )
  }, (effect) =>
    effect.pipe(
      Effect.scoped,
      Effect.provide(Layer.mergeAll(Environment.layer, NodeServices.layer, NodeCrypto.layer))
    ))
).pipe(
  Command.withDescription("Copies the embedded database of DATA_DIR to the empty one of DATABASE_URL"),
  withExamples(["", "Copies the database"])
)
