import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Console, Effect, Layer, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import * as BaseCopies from "../layers/backup/BaseCopies.ts"
import * as BaseCopy from "../layers/backup/BaseCopy.ts"
import * as PointInTime from "../layers/backup/PointInTime.ts"
import * as WalArchive from "../layers/embedded/WalArchive.ts"
import { Environment } from "../layers/Environment.ts"
import { momentMillisMax, momentMillisMin } from "../services/runtime/Moments.ts"
import { traced } from "../services/runtime/Traced.ts"
import { requireDatabase } from "./BackupCommand.ts"
import { withExamples } from "./Examples.ts"
import { connection } from "./MigrateCommand.ts"
import * as Output from "./Output.ts"
import { formatBytes } from "./PictureFile.ts"

const services = Layer.mergeAll(Environment.layer, NodeServices.layer, NodeCrypto.layer)
const copiesMax = 1_000

const keep = Flag.Int("keep").pipe(
  Flag.withDescription("Number of base copies to keep, at least 1 (default: 2); older ones and their log are removed"),
  Flag.filter((number) => number >= 1 && number <= copiesMax, (number) => `${number} is not from 1 to ${copiesMax}`),
  Flag.withDefault(2)
)

const base = Command.make(
  "base",
  { keep },
  traced("wal base")(function*({ keep }) {
    yield* requireDatabase
    const { bytes, completedAt, folder } = yield* BaseCopy.write(yield* connection, keep)
    yield* Console.log(
      `${folder} has ${formatBytes(bytes)}. The server can be restored to any time after ${completedAt}. ` +
        "Media is not in it. It holds every secret of the server: keep it private."
    )
  }, (effect) => effect.pipe(Effect.scoped, Effect.provide(services)))
).pipe(
  Command.withDescription("Makes a base copy of the embedded Postgres in WAL_ARCHIVE_DIR, while the server runs"),
  withExamples(["", "Makes a base copy, and keeps the previous one"], ["--keep 4", "Keeps the newest four"])
)

const list = Command.make(
  "list",
  { json: Output.json },
  traced("wal list")(function*({ json }) {
    const { dataDir, walArchiveDir } = yield* Environment
    const archive = walArchiveDir ?? (yield* WalArchive.recorded(dataDir))?.folder
    const copies = archive === undefined ? [] : yield* BaseCopies.list(archive)
    const rows = copies.map(({ bytes, completedAt, folder }) => ({ folder, completedAt: new Date(completedAt), bytes }))
    yield* Output.printList(
      json,
      rows,
      copies.map(({ bytes, completedAt, folder }) => `${completedAt} ${folder} ${formatBytes(bytes)}`),
      "There is no base copy."
    )
  }, (effect) => effect.pipe(Effect.provide(services)))
).pipe(
  Command.withDescription("Lists the base copies in WAL_ARCHIVE_DIR, each with the time from which it can be restored"),
  withExamples(["", "Lists the base copies"], ["--json", "Prints them for a script"])
)

const restore = Command.make(
  "restore",
  {
    folder: Argument.String("folder").pipe(Argument.withDescription("Archive: the WAL_ARCHIVE_DIR of the old server")),
    until: Flag.Date("until").pipe(
      Flag.withDescription("Time to restore to, for example 2026-11-26T14:05:00Z; without it, the end of the log"),
      Flag.filter(
        (date) => date.getTime() >= momentMillisMin && date.getTime() <= momentMillisMax,
        () => "The year is not from 1970 to 9999"
      ),
      Flag.optional
    ),
    toGap: Flag.Boolean("to-gap").pipe(
      Flag.withDescription("Restores up to the first missing or damaged part of the log"),
      Flag.withDefault(false)
    )
  },
  traced("wal restore")(function*({ folder, toGap, until }) {
    const last = yield* PointInTime.restore(folder, Option.getOrUndefined(until), toGap)
    const time = Option.match(last, { onNone: () => "the base copy", onSome: (at) => at.toISOString() })
    yield* Console.log(`Restored. The last change is of ${time}. Now bring the media back and start the server.`)
  }, (effect) => effect.pipe(Effect.provide(services)))
).pipe(
  Command.withDescription("Restores the embedded Postgres to an exact time, into a new DATA_DIR"),
  withExamples(
    ["/var/backups/wal --until 2026-11-26T14:05:00Z", "Restores the state at this time"],
    ["/var/backups/wal", "Restores to the last archived change"]
  )
)

export const command = Command.make("wal").pipe(
  Command.withDescription("Base copies of the embedded Postgres, and restores to an exact time"),
  withExamples(
    ["base", "Makes a base copy"],
    ["restore /var/backups/wal --until 2026-11-26T14:05:00Z", "Restores the state at this time"]
  ),
  Command.withSubcommands([base, list, restore])
)
