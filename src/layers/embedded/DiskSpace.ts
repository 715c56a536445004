import { Effect, FileSystem, Path, Schedule, Schema } from "effect"
import type { SqlClient } from "effect/sql/SqlClient"
import { open, statfs } from "node:fs/promises"
import { rowsOf } from "../../services/Rows.ts"
import { OperatorError } from "../OperatorError.ts"

const readOnlyRows = rowsOf(Schema.Struct({ on: Schema.Boolean }))

/** Bytes that are kept back on the disk for Postgres. Their file is removed when there is no other room. */
export const reserveBytes = 67_108_864
/** With less than that many bytes free nothing is written any more; with so many more than the reserve, everything again. */
export const lowBytes = 100_663_296
/** What Postgres needs to begin: a segment of its log, and as much again for what it had not written when it ended. */
export const startBytesMin = 33_554_432
const checkInterval = "1 second"
const chunkBytes = 1_048_576

/** Bytes that are free on the disk of a folder, for whom Postgres runs as. */
const freeBytes = (folder: string): Effect.Effect<number> =>
  Effect.promise(() => statfs(folder)).pipe(Effect.map(({ bavail, bsize }) => bavail * bsize))

const reserveFile = (dataDir: string) => Effect.map(Path.Path, (path) => path.join(dataDir, "reserve"))

/**
 * Sees to it that a Postgres may begin on a disk that is full: it gets what was kept back for it. Fails with how many bytes
 * are missing where that is not enough, or is gone already.
 */
export const makeRoom = Effect.fnUntraced(function*(dataDir: string, free: Effect.Effect<number> = freeBytes(dataDir)) {
  const fs = yield* FileSystem.FileSystem
  if ((yield* free) >= startBytesMin) return
  yield* Effect.ignore(fs.remove(yield* reserveFile(dataDir)))
  const bytes = yield* free
  if (bytes >= startBytesMin) {
    return yield* Effect.logWarning(
      `The disk of ${dataDir} is full: Postgres begins with the room that was kept back for it, and nothing is written`
    )
  }
  return yield* new OperatorError({
    message: `The disk of ${dataDir} is full: Postgres needs ${startBytesMin} bytes to begin, ${bytes} are free, ${
      startBytesMin - bytes
    } are missing. Free them and start again; nothing that was stored is lost.`
  })
})

/** Writes the file, so that its blocks are there and no promise; undone where the disk has no room for it. */
const reserve = (file: string) =>
  Effect.tryPromise(async () => {
    const handle = await open(file, "wx", 0o600)
    try {
      const zeros = new Uint8Array(chunkBytes)
      for (let at = 0; at < reserveBytes; at += chunkBytes) await handle.write(zeros, 0, chunkBytes, at)
      await handle.sync()
    } finally {
      await handle.close()
    }
  })

/**
 * Keeps Postgres alive on a full disk: it ends where it cannot write its log, and does not begin again before it can.
 * So before the disk is full, transactions become read-only. A file that was kept back is given up for what Postgres
 * writes by itself; who only reads notices nothing, and what would write is refused as it is where Postgres is away.
 * With room again the file is made anew and everything is as before. Runs as long as its scope.
 */
export const watch = Effect.fnUntraced(function*(
  dataDir: string,
  sql: SqlClient,
  free: Effect.Effect<number> = freeBytes(dataDir)
) {
  const fs = yield* FileSystem.FileSystem
  const file = yield* reserveFile(dataDir)
  const there = Effect.orElseSucceed(fs.exists(file), () => false)

  const readOnly = Effect.map(
    readOnlyRows(sql`SELECT current_setting('default_transaction_read_only')::boolean AS on`),
    ([row]) => row?.on === true
  )
  /** A setting of the whole Postgres, which every session hears of at once; it takes no log, only a small file. */
  const setReadOnly = (on: boolean) =>
    Effect.andThen(
      on
        ? sql`ALTER SYSTEM SET default_transaction_read_only = on`
        : sql`ALTER SYSTEM RESET default_transaction_read_only`,
      sql`SELECT pg_reload_conf()`
    )

  const look = Effect.gen(function*() {
    const [bytes, reserved] = [yield* free, yield* there]
    if (bytes < lowBytes) {
      if (reserved) yield* fs.remove(file)
      if (yield* readOnly) return
      yield* setReadOnly(true)
      yield* Effect.logError(
        `The disk of ${dataDir} is full (${
          Math.floor(bytes / 1_048_576)
        } MiB are left): nothing is written until there is room`
      )
      return
    }
    if (bytes < lowBytes + reserveBytes) return
    if (!reserved) yield* Effect.tapError(reserve(file), () => Effect.ignore(fs.remove(file)))
    if (!(yield* readOnly)) return
    yield* setReadOnly(false)
    yield* Effect.logInfo(`There is room on the disk of ${dataDir} again, and everything is written`)
  })
  yield* look.pipe(
    Effect.catchCause((cause) => Effect.logDebug("the room on the disk was not looked after", cause)),
    Effect.repeat(Schedule.spaced(checkInterval)),
    Effect.forkScoped
  )
})
