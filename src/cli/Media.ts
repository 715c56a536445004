import { Console, Effect } from "effect"
import { Command, Flag } from "effect/cli"
import * as RemoteCache from "../layers/storage/RemoteCache.ts"
import { MediaAttachments } from "../services/media/MediaAttachments.ts"
import { type Amount, MediaUsage } from "../services/media/MediaUsage.ts"
import { RemoteRefreshes } from "../services/media/RemoteRefreshes.ts"
import { StoredFiles } from "../services/media/StoredFiles.ts"
import { traced } from "../services/runtime/Traced.ts"
import { asOperatorError } from "./Lookup.ts"
import * as MediaServices from "./MediaServices.ts"
import { formatBytes } from "./PictureFile.ts"

const line = (name: string, { bytes, files }: Amount) =>
  `${name.padEnd(14)}${String(files).padStart(9)} files ${formatBytes(bytes).padStart(12)}`

const usage = Command.make(
  "usage",
  {
    check: Flag.Boolean("check").pipe(
      Flag.withDescription("Also checks every file in the storage, which takes a while"),
      Flag.withDefault(false)
    )
  },
  traced("media usage")(function*(given) {
    const media = yield* MediaUsage
    const ledger = yield* media.ledger
    const amounts = Object.values(ledger)
    const total = {
      files: amounts.reduce((sum, { files }) => sum + files, 0),
      bytes: amounts.reduce((sum, { bytes }) => sum + bytes, 0)
    }
    yield* Console.log([
      line("attachments", ledger.attachments),
      line("profiles", ledger.profiles),
      line("emoji", ledger.emoji),
      line("site", ledger.site),
      line("cards", ledger.cards),
      line("waiting", ledger.waiting),
      line("all", total),
      line("remote copies", yield* RemoteCache.cacheUsage)
    ].join("\n"))
    if (!given.check) return
    const { stored, unknown } = yield* asOperatorError(media.storage)
    const bytes = unknown.reduce((sum, file) => sum + file.bytes, 0)
    yield* Console.log([line("in storage", stored), line("unknown", { files: unknown.length, bytes })].join("\n"))
  }, (effect) => Effect.provide(effect, MediaServices.layer))
).pipe(Command.withDescription("Shows the disk usage of files"))

/** Repeats a step until it returns 0, and returns the sum. */
const all = <E, R>(some: Effect.Effect<number, E, R>) =>
  Effect.gen(function*() {
    let done = 0
    for (let now = yield* some; now > 0; now = yield* some) done += now
    return done
  })

const prune = Command.make(
  "prune",
  {},
  traced("media prune")(function*() {
    const unattached = yield* all((yield* MediaAttachments).sweep)
    const unheld = yield* asOperatorError(all((yield* StoredFiles).sweep))
    const { bytes, files } = yield* asOperatorError((yield* MediaUsage).removeUnknown)
    yield* Console.log([
      `${unattached} attachments unused for a day were removed,`,
      `${unheld} files without an owner for an hour,`,
      `and ${files} files (${formatBytes(bytes)}) unknown to the database.`
    ].join("\n"))
  }, (effect) => Effect.provide(effect, MediaServices.layer))
).pipe(Command.withDescription("Removes unused files, as the server does regularly"))

const refresh = Command.make(
  "refresh",
  {},
  traced("media refresh")(function*() {
    yield* (yield* RemoteRefreshes).refresh
    yield* Console.log("Files of remote accounts will be fetched again when they are viewed.")
  }, (effect) => Effect.provide(effect, MediaServices.layer))
).pipe(Command.withDescription("Drops all copies of remote files, so that they are fetched again when viewed"))

export const command = Command.make("media").pipe(
  Command.withDescription("Uploaded files"),
  Command.withSubcommands([usage, prune, refresh])
)
