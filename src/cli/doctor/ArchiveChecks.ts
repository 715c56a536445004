import { Clock, Effect, FileSystem, type Path, Schema } from "effect"
import { SqlClient } from "effect/sql"
import * as BaseCopies from "../../layers/backup/BaseCopies.ts"
import { commandName } from "../../layers/CommandName.ts"
import * as DataFolder from "../../layers/embedded/DataFolder.ts"
import * as WalArchive from "../../layers/embedded/WalArchive.ts"
import { Environment } from "../../layers/Environment.ts"
import { rowsOf, singleRow, Timestamptz } from "../../services/database/Rows.ts"
import { momentOf } from "../../services/runtime/Moments.ts"
import { type Examination, Fail, Ok, Skip, Warn } from "./Examination.ts"

const archiverRows = rowsOf(Schema.Struct({
  mode: Schema.String,
  archivedAt: Schema.NullOr(Timestamptz),
  failedAt: Schema.NullOr(Timestamptz),
  failedSegment: Schema.NullOr(Schema.String)
}))

/** Age of the newest base copy from which the operator is warned, in milliseconds: a restore replays the log since. */
const baseAgeMillisMax = 31 * 86_400_000

/** Check of the archived write-ahead log of the embedded Postgres. */
export const archiveCheck: Examination<SqlClient.SqlClient | Environment | FileSystem.FileSystem | Path.Path> = {
  subject: "Archive of the log",
  examine: Effect.gen(function*() {
    const { databaseUrl, dataDir, walArchiveDir } = yield* Environment
    if (databaseUrl !== undefined) return Skip({ words: "your own Postgres has its own tools" })
    const archive = yield* WalArchive.recorded(dataDir)
    if (walArchiveDir === undefined && archive === undefined) return Skip({ words: "off (WAL_ARCHIVE_DIR)" })
    const sql = yield* SqlClient.SqlClient
    const { archivedAt, failedAt, failedSegment, mode } = singleRow(
      yield* archiverRows(sql`SELECT current_setting('archive_mode') AS mode, last_archived_time AS archived_at,
        last_failed_time AS failed_at, last_failed_wal AS failed_segment FROM pg_stat_archiver`)
    )
    if (archive === undefined || mode === "off") return Fail({ words: "not yet written: stop and start the server" })
    const fs = yield* FileSystem.FileSystem
    const gap = yield* fs.readFileString(`${yield* DataFolder.of(dataDir)}/${WalArchive.gapName}`).pipe(
      Effect.orElseSucceed(() => undefined)
    )
    const base = `run ${commandName} wal base`
    if (failedAt !== null && (archivedAt === null || failedAt > archivedAt)) {
      return Fail({
        words:
          `segment ${failedSegment} could not be stored in ${archive.folder} at ${failedAt.toISOString()}; Postgres ` +
          "retries. Check that the folder is there, writable, and has 2 GiB free"
      })
    }
    if (gap !== undefined) return Fail({ words: `segment ${gap.trim()} was dropped, so the log has a gap; ${base}` })
    const newest = (yield* BaseCopies.list(archive.folder)).at(-1)
    if (newest === undefined) return Fail({ words: `${archive.folder} has no base copy; ${base}` })
    const missing = yield* BaseCopies.missing(archive.folder, newest)
    if (missing !== undefined) {
      return Fail({ words: `segment ${missing} is missing in ${archive.folder}, so the log has a gap; ${base}` })
    }
    const words = `base copy of ${newest.completedAt}, log to ${archivedAt?.toISOString() ?? "there"}`
    const age = (yield* Clock.currentTimeMillis) - (momentOf(newest.completedAt) ?? 0)
    return age > baseAgeMillisMax ? Warn({ words: `${words}; ${base}` }) : Ok({ words })
  })
}
