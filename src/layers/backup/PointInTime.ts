import { PgClient } from "@effect/sql-pg"
import { Effect, FileSystem, Option, Path, Redacted, Schema } from "effect"
import { Reactivity } from "effect/reactivity"
import { rowsOf, singleRow, Timestamptz } from "../../services/database/Rows.ts"
import { traced } from "../../services/runtime/Traced.ts"
import { type Connection, connectionOf, names } from "../Database.ts"
import * as Binaries from "../embedded/Binaries.ts"
import * as DataFolder from "../embedded/DataFolder.ts"
import * as Postmaster from "../embedded/Postmaster.ts"
import * as RunAs from "../embedded/RunAs.ts"
import * as WalArchive from "../embedded/WalArchive.ts"
import { chooseListen, passwordName } from "../EmbeddedPostgres.ts"
import { Environment } from "../Environment.ts"
import { OperatorError } from "../OperatorError.ts"
import * as BaseCopies from "./BaseCopies.ts"
import { requireReadable } from "./Restore.ts"
import * as RestoreMark from "./RestoreMark.ts"
import * as SecretsCopy from "./SecretsCopy.ts"

const refused = (message: string) => new OperatorError({ message })

/** Maximum time to replay the log. */
const replayTimeout = "1 day"

const ReplayedRow = Schema.Struct({ lastCommit: Schema.NullOr(Timestamptz), segment: Schema.String })
const replayedRows = rowsOf(ReplayedRow)

/** Selects the newest base copy that was complete at the time. */
const baseAt = Effect.fnUntraced(function*(archive: string, until: Date | undefined) {
  const copies = yield* BaseCopies.list(archive)
  const base = copies.findLast(({ completedAt }) => until === undefined || completedAt <= until.toISOString())
  if (base !== undefined) return base
  const [oldest] = copies
  return yield* refused(
    oldest === undefined
      ? `${archive} has no base copy, so nothing can be restored from it`
      : `The oldest base copy of ${archive} is of ${oldest.completedAt}: nothing before can be restored`
  )
})

/** Unpacks a base copy. Writes no log of its own, because Postgres replays the archived one. */
const unpackBase = Effect.fnUntraced(function*(copy: string, to: string) {
  const fs = yield* FileSystem.FileSystem
  const from = BaseCopies.dataFolder(copy)
  yield* fs.makeDirectory(to, { recursive: true, mode: 0o700 })
  const names = (yield* fs.readDirectory(from, { recursive: true })).toSorted()
  yield* Effect.forEach(names, (name) =>
    Effect.gen(function*() {
      if ((yield* fs.stat(`${from}/${name}`)).type === "Directory") {
        return yield* fs.makeDirectory(`${to}/${name}`, { recursive: true, mode: 0o700 })
      }
      yield* name.endsWith(".gz")
        ? BaseCopies.unpack(`${from}/${name}`, `${to}/${name.slice(0, -3)}`)
        : fs.copyFile(`${from}/${name}`, `${to}/${name}`)
    }), { discard: true })
  yield* fs.writeFileString(`${to}/recovery.signal`, "", { mode: 0o600 })
})

/** Turns the error of a Postgres that ended during the replay into an error for the operator. */
const explained = (archive: string, until: Date | undefined) => ({ message }: OperatorError) =>
  message.includes("recovery ended before configured recovery target")
    ? refused(
      `The log in ${archive} ends before ${until?.toISOString()}. Leave out --until to restore all of it, or choose ` +
        "an earlier time."
    )
    : refused(`The log in ${archive} cannot be replayed: ${message}`)

/** Returns the time of the last restored change and its segment of the log. */
const replayed = (connection: Connection) =>
  Effect.scoped(
    Effect.flatMap(
      PgClient.make({ ...connection, ...names, maxConnections: 1 }),
      (sql) =>
        Effect.map(
          replayedRows(
            sql`SELECT pg_last_xact_replay_timestamp() AS last_commit, pg_walfile_name(pg_last_wal_replay_lsn()) AS segment`
          ),
          singleRow
        )
    )
  ).pipe(Effect.provide(Reactivity.layer))

/**
 * Restores the embedded Postgres of an empty data folder from an archive, to the last change before `until` (inclusive),
 * or to the last archived change, with its secrets. A segment that is missing or damaged before the end is refused unless
 * `toGap`. Media is not in the archive. The database gets its name at the end; until then a failure leaves nothing, and
 * what a crash leaves is removed by the next restore. Returns the time of the last restored change.
 */
export const restore = traced("PointInTime.restore")(function*(
  folder: string,
  until: Date | undefined,
  toGap: boolean
) {
  const { dataDir } = yield* Environment
  return yield* RestoreMark.during(dataDir, () => restoreMarked(folder, until, toGap))
})

const restoreMarked = Effect.fnUntraced(function*(folder: string, until: Date | undefined, toGap: boolean) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const archive = path.resolve(folder)
  const { dataDir, databaseUrl, server: { localDomain } } = yield* Environment
  if (databaseUrl !== undefined) {
    return yield* refused("DATABASE_URL is set: only the embedded Postgres can be restored")
  }
  const target = yield* DataFolder.of(dataDir)
  if (yield* fs.exists(target)) return yield* refused(`The target is not empty: ${target} exists`)
  yield* requireReadable(BaseCopies.baseFolder(archive))
  const base = yield* baseAt(archive, until)
  if (base.localDomain !== localDomain) {
    return yield* refused(
      `The archive is of ${base.localDomain}, this server is ${localDomain}. Set LOCAL_DOMAIN as before.`
    )
  }
  yield* SecretsCopy.refuseOtherKey(base.secrets)
  const password = base.secrets.find(([name]) => name === passwordName)?.[1] ?? ""

  const binaries = yield* Binaries.find
  const draft = `${target}.part`
  const removeDraft = fs.remove(draft, { recursive: true, force: true })
  yield* Postmaster.kill(draft)
  yield* Effect.mapError(removeDraft, ({ message }) => refused(`The restore failed: ${message}`))
  const runAs = yield* RunAs.choose(binaries, target, path.resolve(dataDir))
  if (!RunAs.passes(runAs, "test -r \"$1\" && test -x \"$1\"", [WalArchive.walFolder(archive)])) {
    return yield* refused(`The user that Postgres runs as cannot read ${WalArchive.walFolder(archive)}`)
  }
  return yield* Effect.gen(function*() {
    yield* unpackBase(base.folder, draft)
    yield* DataFolder.changeOwner(draft, runAs)
    yield* DataFolder.checkVersion(draft, binaries)
    const listen = yield* chooseListen(draft, false)
    const { lastCommit } = yield* Effect.scoped(Effect.gen(function*() {
      const { endpoint } = yield* Effect.acquireRelease(
        Postmaster.start(draft, binaries, runAs, listen, {
          durable: true,
          more: WalArchive.recovering(archive, until)
        }, replayTimeout).pipe(Effect.mapError(explained(archive, until))),
        Postmaster.stop,
        { interruptible: true }
      )
      const end = yield* replayed(connectionOf({
        endpoint,
        username: DataFolder.username,
        password: Redacted.make(password),
        pid: Effect.succeed(0)
      }))
      if (until === undefined && !toGap) yield* requireWhole(archive, end)
      return end
    }))
    yield* SecretsCopy.writeFiles(dataDir, base.secrets)
    yield* fs.rename(draft, target)
    return Option.fromNullishOr(lastCommit)
  }).pipe(
    Effect.ensuring(Effect.ignore(removeDraft)),
    Effect.mapError((error) => error instanceof OperatorError ? error : refused(`The restore failed: ${error.message}`))
  )
})

/** Fails if the replay ended before the newest segment: one between them is missing or damaged. */
const requireWhole = Effect.fnUntraced(function*(archive: string, { lastCommit, segment }: typeof ReplayedRow.Type) {
  const newest = (yield* BaseCopies.segments(archive)).at(-1)
  if (newest === undefined || (WalArchive.numberOf(segment) ?? "") >= newest.number) return
  return yield* refused(
    `The log in ${archive} is missing or damaged after ${segment}, although newer segments exist: the last change ` +
      `before is of ${lastCommit?.toISOString() ?? "the base copy"}. Add --to-gap to restore what is before.`
  )
})
