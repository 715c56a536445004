import { Clock, Console, Effect, Layer, Schedule, Stream } from "effect"
import { Argument, Command } from "effect/cli"
import * as NewFile from "../layers/backup/NewFile.ts"
import { OperatorError } from "../layers/OperatorError.ts"
import type { AccountId } from "../services/database/Ids.ts"
import { traced } from "../services/runtime/Traced.ts"
import { ArchiveParts } from "../services/transfers/archives/ArchiveParts.ts"
import { ArchiveRequests } from "../services/transfers/archives/ArchiveRequests.ts"
import { isRunning, type Transfer } from "../services/transfers/Transfer.ts"
import { Transfers } from "../services/transfers/Transfers.ts"
import { withExamples } from "./Examples.ts"
import { asOperatorError, findUser } from "./Lookup.ts"
import * as MediaServices from "./MediaServices.ts"

const services = Layer.mergeAll(ArchiveParts.layer, ArchiveRequests.layer, Transfers.layer).pipe(
  Layer.provideMerge(MediaServices.layer)
)

/** Interval at which the command looks at the archive. */
const period = "500 millis"
/** Maximum time without progress, in milliseconds, before the command gives up; the archive is not cancelled. */
const idleMillisMax = 60_000
/** Minimum time between two lines about the progress, in milliseconds. */
const progressMillis = 10_000

/** Returns the account's newest archive that can be downloaded or is being written; begins one if it has none. */
const newest = Effect.fnUntraced(function*(owner: AccountId) {
  const now = yield* Clock.currentTimeMillis
  const found = (yield* (yield* Transfers).list(owner)).find(({ expiresAt, kind, state }) =>
    kind === "archive_out" && (isRunning(state) || (state === "finished" && expiresAt.getTime() > now))
  )
  return found ?? (yield* (yield* ArchiveRequests).request(owner))
})

/** Waits until a running server has written the archive; fails after a minute without progress. */
export const waitUntilWritten = Effect.fnUntraced(function*(transfer: Transfer) {
  const transfers = yield* Transfers
  const start = yield* Clock.currentTimeMillis
  let [last, since, reportedAt] = [transfer, start, start]
  yield* Effect.gen(function*() {
    const now = yield* Clock.currentTimeMillis
    const next = yield* transfers.find(transfer.accountId, transfer.id)
    if (next.processed > last.processed || next.state !== last.state) since = now
    last = next
    if (isRunning(last.state) && now - reportedAt > progressMillis) {
      reportedAt = now
      yield* Console.log(`${last.processed} entries are written.`)
    }
    if (isRunning(last.state) && now - since > idleMillisMax) {
      return yield* new OperatorError({
        message: `The archive waits for a running server (${last.processed} entries are written). ` +
          "Start the server, then run the command again to continue."
      })
    }
  }).pipe(Effect.repeat({ schedule: Schedule.spaced(period), while: () => isRunning(last.state) }))
  if (last.state !== "finished") {
    return yield* new OperatorError({
      message: last.state === "cancelled" ? "The archive was cancelled." : "The archive could not be written."
    })
  }
  return last
})

export const command = Command.make(
  "archive",
  {
    name: Argument.String("name").pipe(Argument.withDescription("Name of the account, without @ and domain")),
    file: Argument.String("file").pipe(Argument.withDescription("Zip file to create"))
  },
  traced("account archive")(function*({ file, name }) {
    const { accountId } = yield* findUser(name)
    const parts = yield* ArchiveParts
    // Creates the file first: one that exists is refused before the server begins an archive.
    const { bytes, transfer } = yield* NewFile.create(file, (put) =>
      Effect.gen(function*() {
        const transfer = yield* waitUntilWritten(yield* newest(accountId))
        const bytes = yield* parts.size(transfer.id)
        yield* Stream.runForEach(parts.read(transfer.id, { offset: 0, length: bytes }), put)
        return { bytes, transfer }
      })).pipe(asOperatorError)
    const { createdAt, processed } = transfer
    yield* Console.log(
      `${file} has the archive of ${name} of ${createdAt.toISOString()}: ${processed} entries, ${bytes} bytes.`
    )
  }, (effect) => Effect.provide(effect, services))
).pipe(
  Command.withDescription("Writes the archive that a member can download: posts, files, favourites and bookmarks"),
  withExamples([
    "ada ada.zip",
    "Writes ada's newest archive of the last seven days, or a new one by the running server"
  ])
)
