import { Effect, FileSystem, Path, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import { traced } from "../../services/runtime/Traced.ts"
import { OperatorError } from "../OperatorError.ts"
import * as RunAs from "./RunAs.ts"

/*
 * Archive of the embedded Postgres' write-ahead log (WAL), from which it is restored to an exact time
 * (Postgres' manual, "Continuous Archiving and Point-in-Time Recovery"). The folder has `owner`, the id of its
 * database; `wal`, the packed segments; and `base`, the base copies (`src/layers/backup/BaseCopies.ts`).
 */

/** The archive that a data folder writes to. Two databases never share one: their logs would be mixed up. */
const Archive = Schema.Struct({ folder: Schema.String, id: Schema.String })
const StoredArchive = Schema.fromJsonString(Archive)

/** File in the Postgres folder that says which part of the log was dropped; removed by the next base copy. */
export const gapName = "wal_gap"
/** Maximum time until a change is in the archive, in seconds. */
const archiveSeconds = 300
/** Maximum segments (16 MiB each) that wait for a failing archive; the log has a gap if there are more. */
export const waitingSegmentsMax = 64
/** Kibibytes that stay free on the disk of the archive, so that it never fills the disk of the database. */
const freeKibibytesMin = 2_097_152
/** Name of a segment: timeline and number, in hexadecimal. */
const segmentName = /^([0-9A-F]{8})([0-9A-F]{16})$/

const recordFile = (dataDir: string) => Effect.map(Path.Path, (path) => path.join(dataDir, "wal_archive.json"))
const ownerFile = (folder: string) => Effect.map(Path.Path, (path) => path.join(folder, "owner"))

/** Returns the folder of the packed segments. */
export const walFolder = (folder: string): string => `${folder}/wal`

/** Returns the number of a segment without its timeline, which orders segments; undefined for other files. */
export const numberOf = (name: string): string | undefined => segmentName.exec(name)?.[2]

/**
 * Returns the archive that the data folder's Postgres writes to, whoever starts it: without it a command of the
 * operator would start Postgres without an archive, and nothing later could be restored.
 */
export const recorded = Effect.fnUntraced(function*(dataDir: string) {
  const fs = yield* FileSystem.FileSystem
  return yield* fs.readFileString(yield* recordFile(dataDir)).pipe(
    Effect.flatMap(Schema.decodeUnknownEffect(StoredArchive)),
    Effect.orElseSucceed(() => undefined)
  )
})

const foreign = (folder: string) =>
  new OperatorError({
    message: `${folder} (WAL_ARCHIVE_DIR) has the log of another database, or of this one before it was restored or ` +
      "its archive was switched off. Set WAL_ARCHIVE_DIR to an empty folder, and make a base copy."
  })

/**
 * Switches the archive of a data folder on, off or to another folder, for the next start of its Postgres. Fails if the
 * folder belongs to another database or cannot be created. A known folder that is missing is only reported: its disk may
 * be away, and is not replaced by an empty folder.
 */
export const choose = traced("WalArchive.choose")(
  function*(dataDir: string, setting: string | undefined) {
    const fs = yield* FileSystem.FileSystem
    const path = yield* Path.Path
    const random = yield* SecureRandom.SecureRandom
    const record = yield* recordFile(dataDir)
    const before = yield* recorded(dataDir)
    if (setting === undefined) {
      if (before === undefined) return
      yield* fs.remove(record)
      return yield* Effect.logWarning(
        `The write-ahead log is no longer archived in ${before.folder}, because WAL_ARCHIVE_DIR is not set`
      )
    }
    const folder = path.resolve(setting)
    const owner = yield* Effect.orElseSucceed(
      Effect.map(fs.readFileString(yield* ownerFile(folder)), (text) => text.trim()),
      () => undefined
    )
    if (owner !== undefined && owner !== before?.id) return yield* foreign(folder)
    const id = before?.id ?? (yield* random.uuidV4())
    if (before?.folder !== folder) {
      // Postgres may run as another user, who gets the subfolder.
      yield* fs.makeDirectory(walFolder(folder), { recursive: true, mode: 0o711 })
      yield* fs.makeDirectory(dataDir, { recursive: true, mode: 0o711 })
      yield* fs.writeFileString(`${record}.part`, JSON.stringify({ folder, id }), { mode: 0o600 })
      yield* fs.rename(`${record}.part`, record)
    } else if (owner === undefined && !(yield* fs.exists(walFolder(folder)))) {
      return yield* Effect.logWarning(`${folder} (WAL_ARCHIVE_DIR) is missing or empty; is its disk mounted?`)
    }
    if (owner !== undefined) return
    yield* fs.writeFileString(yield* ownerFile(folder), `${id}\n`, { flag: "wx", mode: 0o600 })
  },
  Effect.catchTag(
    "PlatformError",
    ({ message }) =>
      new OperatorError({ message: `The archive of the write-ahead log (WAL_ARCHIVE_DIR) cannot be used: ${message}` })
  )
)

/** Lets the user that Postgres runs as write the segments; logs if that is impossible, because Postgres retries. */
export const open = Effect.fnUntraced(function*(folder: string, runAs: RunAs.RunAs) {
  const fs = yield* FileSystem.FileSystem
  const wal = walFolder(folder)
  const owner = RunAs.owner(runAs)
  yield* fs.chmod(wal, 0o700).pipe(
    Effect.andThen(owner === undefined ? Effect.void : fs.chown(wal, owner.uid, owner.gid)),
    Effect.ignore
  )
  if (RunAs.passes(runAs, "test -w \"$1\"", [wal])) return
  yield* Effect.logWarning(`Postgres cannot write its log to ${wal} (WAL_ARCHIVE_DIR)`)
})

/** Quotes a text for the shell, in a command of Postgres' settings, where % begins a placeholder. */
const quoted = (text: string) => `'${text.replaceAll("'", "'\\''").replaceAll("%", "%%")}'`

/**
 * Settings of a Postgres that archives its log. The command runs in the data folder. It stores a segment once, packed
 * and on the disk, and leaves space on the archive's disk. While it fails, Postgres keeps segments and retries; beyond the
 * limit it drops them, because a full disk would stop the server.
 */
export const archiving = (folder: string): Record<string, string | number> => {
  const wal = quoted(walFolder(folder))
  const free = `df -Pk ${wal} | sed -n '2s/.* \\([0-9][0-9]*\\)  *[0-9]*%% .*/\\1/p'`
  const store = [
    `test "$(${free})" -gt ${freeKibibytesMin}`,
    "gzip -1 < %p > \"$f.part\"",
    "sync \"$f.part\"",
    "mv \"$f.part\" \"$f\""
  ].join(" && ")
  const drop = `test "$(ls pg_wal/archive_status | grep -c 'ready$')" -gt ${waitingSegmentsMax} && echo %f > ${gapName}`
  return {
    "wal_level": "replica",
    "archive_mode": "on",
    "archive_timeout": archiveSeconds,
    "archive_command":
      `f=${wal}/%f.gz; if test -f "$f"; then gzip -cd "$f" | cmp -s - %p; else ${store}; fi || { ${drop}; }`
  }
}

/** Settings of a Postgres that replays the archived log up to a time (inclusive), or to its end. */
export const recovering = (folder: string, until: Date | undefined): Record<string, string | number> => ({
  "restore_command": `gzip -cd ${quoted(walFolder(folder))}/%f.gz > %p`,
  "recovery_target_action": "promote",
  // Otherwise its limits would have to be those of the Postgres that wrote the log.
  "hot_standby": "off",
  ...(until === undefined ? {} : { "recovery_target_time": until.toISOString().replace("T", " ").replace("Z", "+00") })
})
