import { Effect, FileSystem, Path, Schedule, Schema } from "effect"
import type { SqlClient } from "effect/sql/SqlClient"
import { open, statfs } from "node:fs/promises"
import { rowsOf } from "../../services/database/Rows.ts"
import { OperatorError } from "../OperatorError.ts"

const readOnlyRows = rowsOf(Schema.Struct({ on: Schema.Boolean }))

/** Bytes of disk space reserved for Postgres by a file, which is removed when the disk is full. */
export const reserveBytes = 67_108_864
/** Free bytes below which writes are refused. They are accepted again with this and the reserve free. */
export const lowBytes = 100_663_296
/** Free bytes that Postgres needs to start: a WAL segment, and as much again for what was unwritten at its end. */
export const startBytesMin = 33_554_432
const checkInterval = "1 second"
const chunkBytes = 1_048_576

/** Returns the free bytes on a folder's disk, for unprivileged users. */
export const freeBytes = (folder: string): Effect.Effect<number> =>
  Effect.promise(() => statfs(folder)).pipe(Effect.map(({ bavail, bsize }) => bavail * bsize))

const reserveFile = (dataDir: string) => Effect.map(Path.Path, (path) => path.join(dataDir, "reserve"))

/**
 * Frees the reserve if the disk is too full for Postgres to start. Fails with the number of missing bytes if that is
 * not enough.
 */
export const freeReserve = Effect.fnUntraced(
  function*(dataDir: string, free: Effect.Effect<number> = freeBytes(dataDir)) {
    const fs = yield* FileSystem.FileSystem
    if ((yield* free) >= startBytesMin) return
    yield* Effect.ignore(fs.remove(yield* reserveFile(dataDir)))
    const bytes = yield* free
    if (bytes >= startBytesMin) {
      return yield* Effect.logWarning(
        `The disk of ${dataDir} is full: Postgres starts with its reserved space and refuses writes. Free space on the disk.`
      )
    }
    return yield* new OperatorError({
      message: `The disk of ${dataDir} is full: Postgres needs ${startBytesMin} bytes to start, ${bytes} are free, ${
        startBytesMin - bytes
      } are missing. Free them and start again; no stored data is lost.`
    })
  }
)

/** Writes the reserve file, so that its blocks are really allocated; the caller removes it if the disk is too full. */
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
 * Keeps Postgres alive on a full disk: without space for its WAL it ends, and cannot start again. So transactions
 * become read-only before the disk is full, and the reserve is freed for Postgres' own writes. Reads go on unnoticed;
 * writes fail as if Postgres were down. With enough space the reserve is written again and writes are accepted. Runs
 * until its scope closes.
 */
export const watch = Effect.fnUntraced(function*(
  dataDir: string,
  sql: SqlClient,
  free: Effect.Effect<number> = freeBytes(dataDir)
) {
  const fs = yield* FileSystem.FileSystem
  const file = yield* reserveFile(dataDir)
  const isReserved = Effect.orElseSucceed(fs.exists(file), () => false)

  const readOnly = Effect.map(
    readOnlyRows(sql`SELECT current_setting('default_transaction_read_only')::boolean AS on`),
    ([row]) => row?.on === true
  )
  /**
   * Changes a setting of the whole Postgres, which every session picks up at once; that needs only a small file, no
   * WAL.
   */
  const setReadOnly = (on: boolean) =>
    Effect.andThen(
      on
        ? sql`ALTER SYSTEM SET default_transaction_read_only = on`
        : sql`ALTER SYSTEM RESET default_transaction_read_only`,
      sql`SELECT pg_reload_conf()`
    )

  const check = Effect.gen(function*() {
    const [bytes, reserved] = [yield* free, yield* isReserved]
    if (bytes < lowBytes) {
      if (reserved) yield* fs.remove(file)
      if (yield* readOnly) return
      yield* setReadOnly(true)
      yield* Effect.logError(
        `The disk of ${dataDir} is full (${
          Math.floor(bytes / 1_048_576)
        } MiB left): writes are refused until there is space`
      )
      return
    }
    if (bytes < lowBytes + reserveBytes) return
    if (!reserved) yield* Effect.tapError(reserve(file), () => Effect.ignore(fs.remove(file)))
    if (!(yield* readOnly)) return
    yield* setReadOnly(false)
    yield* Effect.logInfo(`The disk of ${dataDir} has space again; writes are accepted`)
  })
  yield* check.pipe(
    Effect.catchCause((cause) => Effect.logDebug("checking disk space failed", cause)),
    Effect.repeat(Schedule.spaced(checkInterval)),
    Effect.forkScoped
  )
})
