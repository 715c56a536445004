import { Console, Effect } from "effect"
import { Command, Flag } from "effect/cli"
import * as RemoteCache from "../layers/storage/RemoteCache.ts"
import { MediaAttachments } from "../services/media/MediaAttachments.ts"
import { type Amount, MediaUsage } from "../services/media/MediaUsage.ts"
import { RemoteRefreshes } from "../services/media/RemoteRefreshes.ts"
import { StoredFiles } from "../services/media/StoredFiles.ts"
import { traced } from "../services/runtime/Traced.ts"
import { withExamples } from "./Examples.ts"
import { asOperatorError } from "./Lookup.ts"
import * as MediaServices from "./MediaServices.ts"
import { json, print } from "./Output.ts"
import { formatBytes } from "./PictureFile.ts"

const line = (name: string, { bytes, files }: Amount) =>
  `${name.padEnd(14)}${String(files).padStart(9)} files ${formatBytes(bytes).padStart(12)}`

const usage = Command.make(
  "usage",
  {
    check: Flag.Boolean("check").pipe(
      Flag.withDescription("Also checks every file in the storage, which takes a while"),
      Flag.withDefault(false)
    ),
    json
  },
  traced("media usage")(function*(given) {
    const media = yield* MediaUsage
    const ledger = yield* media.ledger
    const kinds = Object.values(ledger)
    const total = {
      files: kinds.reduce((sum, { files }) => sum + files, 0),
      bytes: kinds.reduce((sum, { bytes }) => sum + bytes, 0)
    }
    const remoteCopies = yield* RemoteCache.cacheUsage
    const known = [
      line("attachments", ledger.attachments),
      line("profiles", ledger.profiles),
      line("emoji", ledger.emoji),
      line("site", ledger.site),
      line("cards", ledger.cards),
      line("waiting", ledger.waiting),
      line("all", total),
      line("remote copies", remoteCopies)
    ]
    const amounts = { ...ledger, all: total, remoteCopies }
    // The text starts before the check, which takes a while.
    if (!given.check || !given.json) yield* print(given.json, amounts, known.join("\n"))
    if (!given.check) return
    const { stored, unknown } = yield* asOperatorError(media.storage)
    const lost = { files: unknown.length, bytes: unknown.reduce((sum, { bytes }) => sum + bytes, 0) }
    const found = [line("in storage", stored), line("unknown", lost)]
    yield* print(given.json, { ...amounts, inStorage: stored, unknown: lost }, found.join("\n"))
  }, (effect) => Effect.provide(effect, MediaServices.layer))
).pipe(
  Command.withDescription("Shows the disk usage of files"),
  withExamples(["", "Shows the usage by kind"], ["--check", "Also looks for files that the database does not know"])
)

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
).pipe(
  Command.withDescription("Removes unused files, as the server does regularly"),
  withExamples(["", "Removes unused files now"])
)

const refresh = Command.make(
  "refresh",
  {},
  traced("media refresh")(function*() {
    yield* (yield* RemoteRefreshes).refresh
    yield* Console.log("Files of remote accounts will be fetched again when they are viewed.")
  }, (effect) => Effect.provide(effect, MediaServices.layer))
).pipe(
  Command.withDescription("Drops all copies of remote files, so that they are fetched again when viewed"),
  withExamples(["", "Drops all copies of remote files"])
)

export const command = Command.make("media").pipe(
  Command.withDescription("Uploaded files"),
  withExamples(["usage", "Shows the disk usage of files"]),
  Command.withSubcommands([usage, prune, refresh])
)
