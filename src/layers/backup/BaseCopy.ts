import { Clock, Effect, FileSystem, Option, Redacted, Schedule, Schema } from "effect"
import { traced } from "../../services/runtime/Traced.ts"
import type { Connection } from "../Database.ts"
import * as DataFolder from "../embedded/DataFolder.ts"
import * as WalArchive from "../embedded/WalArchive.ts"
import { passwordName } from "../EmbeddedPostgres.ts"
import { Environment } from "../Environment.ts"
import { OperatorError } from "../OperatorError.ts"
import * as SecretFile from "../SecretFile.ts"
import * as BaseCopies from "./BaseCopies.ts"
import * as SecretsCopy from "./SecretsCopy.ts"
import * as Session from "./Session.ts"

const failed = ({ message }: { readonly message: string }) =>
  new OperatorError({ message: `The base copy failed: ${message}` })

/** Advisory lock of the database, so that one copy is made at a time: "base" in ASCII. */
const lockKey = 0x62617365
/** Milliseconds until the session of a killed process ends. */
const connectionCheckMillis = 1_000
/** Retries of the lock, half a second apart. */
const lockRetriesMax = 10
/** Maximum time that the end of a copy waits for its log to be archived, in milliseconds. */
const archivedMillisMax = 600_000
const segmentBytes = 16_777_216

/** Folders whose contents a restored Postgres creates again (Postgres' manual, "Making a Base Backup"). */
const emptied = new Set([
  "pg_wal",
  "pg_replslot",
  "pg_dynshmem",
  "pg_notify",
  "pg_serial",
  "pg_snapshots",
  "pg_stat_tmp",
  "pg_subtrans"
])
/** Names of files of the running Postgres, and of temporary ones. */
const left = /^(?:postmaster\.(?:pid|opts)$|pg_internal\.init|pgsql_tmp|\.s\.PGSQL\.|wal_gap$)/
/** Copied last, as pg_basebackup does. */
const control = "global/pg_control"

/** Copies the Postgres folder; files may change and disappear meanwhile, which the log repairs. Returns the bytes. */
const copyFolder = Effect.fnUntraced(function*(from: string, to: string) {
  const fs = yield* FileSystem.FileSystem
  const names = (yield* fs.readDirectory(from, { recursive: true })).filter((name) =>
    !left.test(name.slice(name.lastIndexOf("/") + 1)) && !(name.includes("/") && emptied.has(name.split("/")[0] ?? ""))
  ).toSorted()
  yield* fs.makeDirectory(to, { recursive: true, mode: 0o700 })
  const copy = Effect.fnUntraced(function*(name: string) {
    const type = yield* Effect.option(Effect.map(fs.stat(`${from}/${name}`), (info) => info.type))
    if (type._tag === "Some" && type.value === "Directory") {
      yield* fs.makeDirectory(`${to}/${name}`, { recursive: true, mode: 0o700 })
    }
    return type._tag === "Some" && type.value === "File"
      ? (yield* BaseCopies.pack(`${from}/${name}`, `${to}/${name}.gz`)) ?? 0
      : 0
  })
  const sizes = yield* Effect.forEach([...names.filter((name) => name !== control), control], copy)
  return sizes.reduce((sum, bytes) => sum + bytes, 0)
})

const Locked = Schema.Tuple([Schema.Boolean])
const Started = Schema.Tuple([Schema.String, Schema.String, Schema.String])
const Stopped = Schema.Tuple([Schema.String, Schema.String])
const Name = Schema.Tuple([Schema.String])

/**
 * Makes a base copy of the running embedded Postgres in its archive, and removes older ones and their log, except the
 * newest `keep`. Fails if the log of the copy was not archived within ten minutes.
 */
export const write = traced("BaseCopy.write")(function*(connection: Connection, keep: number) {
  const fs = yield* FileSystem.FileSystem
  const { dataDir, server: { localDomain } } = yield* Environment
  const archive = yield* WalArchive.recorded(dataDir)
  if (archive === undefined) {
    return yield* new OperatorError({
      message: "The write-ahead log is not archived: set WAL_ARCHIVE_DIR, and stop and start the server"
    })
  }
  const source = yield* DataFolder.of(dataDir)
  const password = yield* SecretFile.find(dataDir, passwordName)
  if (password === undefined) return yield* failed({ message: `the secret ${passwordName} is missing in ${dataDir}` })
  const session = yield* Session.open(connection)
  // Frees the lock if this process is killed while it waits for the archive.
  yield* session.run(`SET client_connection_check_interval = ${connectionCheckMillis}`)
  const isLocked = yield* Effect.repeat(
    Effect.map(session.rows(Locked, "SELECT pg_try_advisory_lock($1)", [lockKey]), ([row]) => row?.[0] === true),
    { until: (isLocked) => isLocked, schedule: Schedule.spaced("500 millis"), times: lockRetriesMax }
  )
  if (!isLocked) return yield* new OperatorError({ message: "Another base copy is being made" })
  const [mode] = yield* session.rows(Name, "SHOW archive_mode")
  if (mode?.[0] === "off") {
    return yield* new OperatorError({
      message: "The running Postgres does not archive its log yet: stop and start the server"
    })
  }
  const gapFile = `${source}/${WalArchive.gapName}`
  const gap = yield* Effect.option(fs.readFileString(gapFile))
  const [started] = yield* session.rows(
    Started,
    `SELECT start::text, pg_walfile_name(start), current_setting('server_version_num')::int / 10000 || ''
      FROM pg_backup_start('murmuration', true) AS start`
  )
  const [start = "", firstSegment = "", postgres = ""] = started ?? []
  const name = new Date(yield* Clock.currentTimeMillis).toISOString().replaceAll(/[:.]/g, "-")
  const folder = `${BaseCopies.baseFolder(archive.folder)}/${name}`
  const draft = `${folder}${BaseCopies.draftEnding}`
  return yield* Effect.gen(function*() {
    yield* BaseCopies.removeDrafts(archive.folder)
    const data = BaseCopies.dataFolder(draft)
    const bytes = yield* copyFolder(source, data)
    yield* session.run(`SET statement_timeout = ${archivedMillisMax}`)
    const [stopped] = yield* session.rows(Stopped, "SELECT lsn::text, labelfile FROM pg_backup_stop(true)").pipe(
      Effect.mapError(({ message }) =>
        new OperatorError({ message: `its log was not archived (${message}); run doctor to see why` })
      )
    )
    const [stop = "", label = ""] = stopped ?? []
    yield* fs.writeFileString(`${draft}/backup_label`, label, { mode: 0o600 })
    yield* fs.rename(`${draft}/backup_label`, `${data}/backup_label`)
    const needed = yield* session.rows(
      Name,
      `SELECT DISTINCT pg_walfile_name(least($1::pg_lsn + part * ${segmentBytes}::numeric, $2::pg_lsn - 1::numeric))
        FROM generate_series(0, ceil(($2::pg_lsn - $1::pg_lsn) / ${segmentBytes})::bigint) AS part`,
      [start, stop]
    )
    const there = new Set((yield* BaseCopies.segments(archive.folder)).map((segment) => segment.name))
    const missing = needed.flatMap(([segment]) => there.has(segment) ? [] : [segment])
    if (missing.length > 0) return yield* new OperatorError({ message: `the archive has no segment ${missing[0]}` })
    const secrets = [
      ...(yield* SecretsCopy.read(connection)),
      [passwordName, Redacted.value(password)] as const
    ]
    const completedAt = new Date(yield* Clock.currentTimeMillis).toISOString()
    const manifest = { format: 1 as const, completedAt, localDomain, postgres, firstSegment, bytes, secrets }
    yield* fs.writeFileString(BaseCopies.manifestFile(draft), BaseCopies.encodeManifest(manifest), { mode: 0o600 })
    yield* Effect.forEach([BaseCopies.manifestFile(draft), draft], BaseCopies.sync, { discard: true })
    yield* fs.rename(draft, folder)
    // On the disk before the older copy is removed.
    yield* BaseCopies.sync(BaseCopies.baseFolder(archive.folder))
    // Closed by this copy, unless another segment was dropped since it began.
    if (Option.isSome(gap) && Option.contains(yield* Effect.option(fs.readFileString(gapFile)), gap.value)) {
      yield* fs.remove(gapFile)
    }
    yield* BaseCopies.prune(archive.folder, keep)
    return { folder, bytes, completedAt }
  }).pipe(
    Effect.onError(() => Effect.ignore(fs.remove(draft, { recursive: true, force: true }))),
    Effect.mapError(failed)
  )
}, Effect.scoped)
