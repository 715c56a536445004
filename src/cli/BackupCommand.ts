import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Console, Effect, Layer } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import * as Backup from "../layers/backup/Backup.ts"
import * as Restore from "../layers/backup/Restore.ts"
import * as RestoreMark from "../layers/backup/RestoreMark.ts"
import * as DataFolder from "../layers/embedded/DataFolder.ts"
import { Environment } from "../layers/Environment.ts"
import { OperatorError } from "../layers/OperatorError.ts"
import * as Storages from "../layers/storage/Storages.ts"
import { traced } from "../services/runtime/Traced.ts"
import { withExamples } from "./Examples.ts"
import { anyConnection, connection } from "./MigrateCommand.ts"
import { formatBytes } from "./PictureFile.ts"

const services = Storages.layer.pipe(
  Layer.provideMerge(Layer.mergeAll(Environment.layer, NodeServices.layer, NodeCrypto.layer))
)

const amounts = ({ bytes, files, rows }: Backup.Copied) =>
  `${rows} rows, ${files} files (${formatBytes(bytes)} of media), and the secrets`

/** Fails if the data folder has no embedded database, which would be created for the backup. */
export const requireDatabase = Effect.gen(function*() {
  const { databaseUrl, dataDir } = yield* Environment
  if (databaseUrl !== undefined || (yield* DataFolder.exists(yield* DataFolder.of(dataDir)))) return
  return yield* new OperatorError({ message: `There is no server in ${dataDir} (DATA_DIR)` })
})

export const command = Command.make(
  "backup",
  {
    file: Argument.String("file").pipe(Argument.withDescription("File to create, a tar archive")),
    withoutMedia: Flag.Boolean("without-media").pipe(
      Flag.withDescription("Leaves out uploaded files, for example if the bucket has its own backup"),
      Flag.withDefault(false)
    )
  },
  traced("backup")(function*({ file, withoutMedia }) {
    yield* requireDatabase
    const copied = yield* Backup.write(file, yield* connection, !withoutMedia)
    yield* Console.log(`${file} has ${amounts(copied)}. It holds every secret of the server: keep it private.`)
  }, (effect) => effect.pipe(Effect.scoped, Effect.provide(services)))
).pipe(
  Command.withDescription("Writes database, media and secrets to one file, while the server runs"),
  withExamples(["murmuration.tar", "Writes a backup"], ["murmuration.tar --without-media", "Leaves out uploaded files"])
)

export const restoreCommand = Command.make(
  "restore",
  { file: Argument.String("file").pipe(Argument.withDescription("File that backup wrote")) },
  traced("restore")(function*({ file }) {
    // Before the embedded database is created.
    yield* Restore.requireReadable(file)
    const { dataDir } = yield* Environment
    const copied = yield* RestoreMark.during(
      dataDir,
      (touched) => Effect.flatMap(anyConnection, (to) => Restore.read(file, to, touched))
    )
    yield* Console.log(`Restored ${amounts(copied)}. Now start the server.`)
  }, (effect) => effect.pipe(Effect.scoped, Effect.provide(services)))
).pipe(
  Command.withDescription("Restores a backup into an empty server: a new DATA_DIR, or an empty DATABASE_URL"),
  withExamples(["murmuration.tar", "Restores a backup"])
)
