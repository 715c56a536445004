import { Effect, FileSystem, Path, Schedule } from "effect"
import type { SqlClient } from "effect/sql/SqlClient"
import { open, statfs } from "node:fs/promises"

/** Bytes that are kept back on the disk for Postgres, in a file that is removed when there is no other room. */
export const reserveBytes = 67_108_864
/** With less than that many bytes free nothing is written any more; with so many more than the reserve, everything again. */
export const lowBytes = 100_663_296
const checkInterval = "1 second"
const chunkBytes = 1_048_576

/** Bytes that are free on the disk of a folder, for whom Postgres runs as. */
export const freeBytes = (folder: string): Effect.Effect<number> =>
  Effect.promise(() => statfs(folder)).pipe(Effect.map(({ bavail, bsize }) => bavail * bsize))

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
 * Keeps Postgres alive on a full disk: it ends where it cannot write its log, and does not begin again before it can. So
 * before the disk is full, transactions become read-only and a file that was kept back is given up for what Postgres writes
 * by itself; who only reads notices nothing, and what would write is refused as it is where Postgres is away. With room
 * again the file is made anew and everything is as before. Runs as long as its scope.
 */
export const watch = Effect.fnUntraced(function*(
  dataDir: string,
  sql: SqlClient,
  free: Effect.Effect<number> = freeBytes(dataDir)
) {
  const fs = yield* FileSystem.FileSystem
  const file = (yield* Path.Path).join(dataDir, "reserve")
  const there = Effect.orElseSucceed(fs.exists(file), () => false)

  const readOnly = Effect.map(
    sql<{ on: boolean }>`SELECT current_setting('default_transaction_read_only')::boolean AS on`,
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
