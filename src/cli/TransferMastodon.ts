import { Clock, Config, Console, Effect, Layer, Option, type Redacted } from "effect"
import { Command, Flag } from "effect/cli"
import type { SqlError } from "effect/sql/SqlError"
import * as Database from "../layers/Database.ts"
import { serverConfig } from "../layers/Environment.ts"
import * as MastodonSource from "../layers/MastodonSource.ts"
import * as NodeKeyOperations from "../layers/NodeKeyOperations.ts"
import { OperatorError } from "../layers/OperatorError.ts"
import { givenPair } from "../layers/push/VapidKeys.ts"
import * as ServerSecrets from "../layers/ServerSecrets.ts"
import * as Storages from "../layers/storage/Storages.ts"
import { ServerConfig } from "../services/instance/ServerConfig.ts"
import { steps } from "../services/mastodon/AllSteps.ts"
import { close } from "../services/mastodon/Closing.ts"
import * as Copy from "../services/mastodon/Copy.ts"
import { hasVisitors } from "../services/mastodon/MemberVisits.ts"
import { report } from "../services/mastodon/Plans.ts"
import { decrypter } from "../services/mastodon/RailsEncryption.ts"
import { nameCell, type Step } from "../services/mastodon/Step.ts"
import { checkedKeys } from "../services/mastodon/Verification.ts"
import type { StorageFailed } from "../services/media/Storage.ts"
import { StoredFiles } from "../services/media/StoredFiles.ts"
import { SealedTokens } from "../services/push/SealedTokens.ts"
import { traced } from "../services/runtime/Traced.ts"
import { Drafts } from "../services/statuses/Drafts.ts"
import { withExamples } from "./Examples.ts"
import * as MastodonMedia from "./MastodonMedia.ts"
import * as MigrateCommand from "./MigrateCommand.ts"
import * as Operator from "./Operator.ts"
import * as Comparing from "./TransferComparing.ts"
import * as TransferFinish from "./TransferFinish.ts"
import * as TransferProgress from "./TransferProgress.ts"
import * as TransferRejects from "./TransferRejects.ts"

/** Maximum age of copied posts of other servers, in days. */
const daysMax = 36_500

const flags = {
  database: Flag.Redacted("database").pipe(
    Flag.withDescription(
      `URL of the Mastodon database, which is only read; ${MastodonSource.urlVariable} hides it from other users`
    ),
    Flag.withFallbackConfig(Config.Redacted(MastodonSource.urlVariable))
  ),
  env: Flag.String("env").pipe(Flag.withDescription("Mastodon's environment file, .env.production")),
  media: Flag.String("media").pipe(
    Flag.withDescription(
      "Mastodon's media folder, public/system, or s3://BUCKET/PREFIX; without it files are not copied"
    ),
    Flag.optional
  ),
  days: Flag.Int("days").pipe(
    Flag.filter(
      (days) => days >= 0 && days <= daysMax,
      (days) => `--days must be between 0 and ${daysMax}, not ${days}`
    ),
    Flag.withDescription(
      "Days of remote posts to copy in full; of older ones, only those that concern local accounts (default: 30)"
    ),
    Flag.withDefault(30)
  ),
  rejects: Flag.String("rejects").pipe(
    Flag.withDescription(
      "File for rows that could not be copied: step, id and reason, separated by tabs (default: transfer-rejects.tsv)"
    ),
    Flag.withDefault("transfer-rejects.tsv")
  )
}
interface Given {
  readonly database: Redacted.Redacted
  readonly env: string
  readonly media: Option.Option<string>
  readonly days: number
  readonly rejects: string
}

/** Prepares a copy: its steps, its obstacles, and the VAPID pair if it is valid. */
const prepared = Effect.fnUntraced(function*(given: Given) {
  const config = yield* ServerConfig
  const variables = yield* MastodonMedia.variablesOf(given.env)
  const primaryKey = variables.get("ACTIVE_RECORD_ENCRYPTION_PRIMARY_KEY") ?? ""
  const salt = variables.get("ACTIVE_RECORD_ENCRYPTION_KEY_DERIVATION_SALT") ?? ""
  const hasKeys = primaryKey !== "" && salt !== ""
  const vapid = givenPair(variables.get("VAPID_PRIVATE_KEY") ?? "", variables.get("VAPID_PUBLIC_KEY") ?? "")
  const decrypt = hasKeys ? decrypter({ primaryKey, salt }) : () => undefined
  const all = yield* steps({
    domain: config.localDomain,
    publicUrl: config.publicUrl,
    days: given.days,
    keepsPush: vapid !== undefined,
    decrypt
  })
  const facts = {
    domain: variables.get("LOCAL_DOMAIN"),
    ourDomain: config.localDomain,
    webDomain: variables.get("WEB_DOMAIN") || undefined,
    publicUrl: config.publicUrl,
    hasKeys,
    decrypt,
    keepsPush: vapid !== undefined
  }
  return { all, vapid, plan: yield* report(all, facts, yield* Clock.currentTimeMillis) }
})

/** Turns an error of either database into one for the operator. */
const asOperatorError = (error: SqlError | StorageFailed | OperatorError) =>
  error instanceof OperatorError
    ? error
    : error._tag === "StorageFailed"
    ? new OperatorError({ message: `A file could not be copied: ${error.message}` })
    : Database.failedAt(`${MastodonSource.setting} or DATABASE_URL`)(error)

const refuse = (obstacles: ReadonlyArray<string>) =>
  obstacles.length === 0 ? Effect.void : Effect.fail(new OperatorError({ message: obstacles.join("\n") }))

/** Returns the steps that can run: without a media folder, files stay for a later run that has one. */
const possible = Effect.fnUntraced(function*(steps: ReadonlyArray<Step>, { media }: Given) {
  if (Option.isSome(media)) return steps
  for (const { name } of steps.filter(({ needsFiles }) => needsFiles === true)) {
    yield* Console.log(`${nameCell(name)} not copied without --media`)
  }
  return steps.filter(({ needsFiles }) => needsFiles !== true)
})

/** Services of a transfer: both databases, without the limits of requests. */
const layer = (given: Given) =>
  Layer.mergeAll(Drafts.layer, StoredFiles.layer, SealedTokens.layer).pipe(
    Layer.provideMerge(Layer.provideMerge(MastodonMedia.layer(given), Storages.layer)),
    Layer.provideMerge(Layer.mergeAll(NodeKeyOperations.layer, ServerSecrets.layer)),
    Layer.provideMerge(MastodonSource.layer(given.database)),
    Layer.provideMerge(Layer.unwrap(Effect.map(MigrateCommand.connection, MastodonSource.target))),
    Layer.provideMerge(serverConfig),
    Layer.provideMerge(Operator.layer)
  )

const plan = Command.make(
  "plan",
  flags,
  traced("transfer mastodon plan")((given) =>
    Effect.gen(function*() {
      const { plan } = yield* prepared(given)
      yield* Console.log(plan.lines.join("\n"))
      yield* refuse(plan.obstacles)
      yield* Console.log("\nNo problems were found: the copy can start.")
    }).pipe(Effect.mapError(asOperatorError), Effect.provide(layer(given)))
  )
).pipe(
  Command.withDescription(
    "Compares both servers: rows to copy, rows that are left out, and problems that prevent a copy"
  ),
  withExamples([
    "--database postgres://localhost/mastodon_production --env .env.production",
    "Shows what would be copied"
  ])
)

/** Obstacle to a run after members began to use this server. */
const used =
  "Members have used this server since the copy. Another run undoes changes that they made here. To run it anyway, pass --overwrite."

const writingFlags = {
  ...flags,
  overwrite: Flag.Boolean("overwrite").pipe(
    Flag.withDescription("Runs even if members have used this server: undoes the changes that they made here"),
    Flag.withDefault(false)
  )
}

/** Prepares a run that writes: refuses what prevents it, and stores Mastodon's VAPID key. Returns the possible steps. */
const prepareWriting = Effect.fnUntraced(function*(given: Given & { readonly overwrite: boolean }) {
  const { all, plan, vapid } = yield* prepared(given)
  yield* refuse([...plan.obstacles, ...(!given.overwrite && (yield* hasVisitors) ? [used] : [])])
  if (vapid !== undefined) yield* ServerSecrets.replaceVapidKey(vapid.privateKey)
  return yield* possible(all, given)
})

/** Rows from which on the output has a rate: that of few rows says nothing. */
const rowsOfRateMin = 1_000

const copy = Command.make(
  "copy",
  writingFlags,
  traced("transfer mastodon copy")((given) =>
    Effect.gen(function*() {
      const all = yield* prepareWriting(given)
      const copies = yield* Copy.make
      for (const step of all) {
        const began = yield* Clock.currentTimeMillis
        const soFar = Effect.map(copies.cursorOf(step), (cursor) => cursor?.copied ?? 0n)
        const { copied, rejected } = yield* copies.copy(step).pipe(TransferProgress.during(step.name, soFar))
        const seconds = ((yield* Clock.currentTimeMillis) - began) / 1_000
        yield* Console.log(
          `${nameCell(step.name)}${String(copied).padStart(14)} copied${
            rejected === 0 ? "" : `, ${rejected} rejected`
          }${copied < rowsOfRateMin ? "" : `, ${Math.round(copied / seconds)} a second`}`
        )
      }
      yield* close
      yield* TransferRejects.write(given.rejects)
    }).pipe(Effect.mapError(asOperatorError), Effect.provide(layer(given)))
  )
).pipe(
  Command.withDescription(
    "Copies the database, and with --media the files; an interrupted copy continues where it stopped"
  ),
  withExamples([
    "--database postgres://localhost/mastodon_production --env .env.production --media public/system",
    "Copies database and files"
  ])
)

const delta = Command.make(
  "delta",
  writingFlags,
  traced("transfer mastodon delta")((given) =>
    Effect.gen(function*() {
      const all = yield* prepareWriting(given)
      const copies = yield* Copy.make
      const begun = yield* copies.beginDelta
      for (const step of all) {
        const { changed, ended, fresh } = yield* copies.delta(step, begun)
        yield* Console.log(
          `${nameCell(step.name)}${String(fresh.copied).padStart(10)} new, ${changed.copied} changed, ${ended} ended`
        )
      }
      yield* copies.endDelta(begun)
      yield* close
      yield* TransferRejects.write(given.rejects)
    }).pipe(Effect.mapError(asOperatorError), Effect.provide(layer(given)))
  )
).pipe(
  Command.withDescription("Copies what changed since the copy, with Mastodon's web server stopped"),
  withExamples([
    "--database postgres://localhost/mastodon_production --env .env.production --media public/system",
    "Copies the changes"
  ])
)

const verify = Command.make(
  "verify",
  {
    ...flags,
    ...Comparing.flags
  },
  traced("transfer mastodon verify")((given) =>
    Effect.gen(function*() {
      const { broken, checked } = yield* checkedKeys
      if (checked === 0) {
        return yield* new OperatorError({ message: "There are no local accounts: run the copy first." })
      }
      yield* Console.log(
        broken.length === 0
          ? `The keys of all ${checked} local accounts sign and verify.`
          : `These accounts have no working key, and get a new one: ${broken.join(", ")}`
      )
      yield* TransferRejects.write(given.rejects)
      if (Option.isSome(given.against)) yield* Comparing.compareWith(given.against.value, given)
    }).pipe(
      Effect.mapError(asOperatorError),
      Effect.provide(Comparing.layer),
      Effect.provide(layer(given))
    )
  )
).pipe(
  Command.withDescription("Checks the key of each local account by a signature, and compares both servers"),
  withExamples(
    ["--database postgres://localhost/mastodon_production --env .env.production", "Checks the keys"],
    [
      "--database postgres://localhost/mastodon_production --env .env.production --against $PUBLIC_URL",
      "Compares accounts and posts with the running server, too"
    ]
  )
)

/** Copies a Mastodon server of the same domain. */
export const command = Command.make("mastodon").pipe(
  Command.withDescription("Replaces a Mastodon server (4.3 to 4.7) of the same domain with this one"),
  withExamples([
    "plan --database postgres://localhost/mastodon_production --env .env.production",
    "Shows what would be copied"
  ]),
  Command.withSubcommands([plan, copy, delta, verify, TransferFinish.command])
)
