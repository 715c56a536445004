import { PgClient } from "@effect/sql-pg"
import { Context, Effect, FileSystem, Layer, Option, Path, type Redacted, Ref, Schedule } from "effect"
import { SecureRandom } from "effect/crypto"
import { Hex } from "effect/encoding"
import { Reactivity } from "effect/reactivity"
import { createServer } from "node:net"
import { traced } from "../services/runtime/Traced.ts"
import * as Binaries from "./embedded/Binaries.ts"
import * as DataFolder from "./embedded/DataFolder.ts"
import * as DiskSpace from "./embedded/DiskSpace.ts"
import type { Listen } from "./embedded/PostgresSettings.ts"
import * as Postmaster from "./embedded/Postmaster.ts"
import * as RunAs from "./embedded/RunAs.ts"
import * as WalArchive from "./embedded/WalArchive.ts"
import { OperatorError } from "./OperatorError.ts"
import * as SecretFile from "./SecretFile.ts"

export interface Options {
  /** The server's data folder; Postgres' data is in its subfolder `postgres`. */
  readonly dataDir: string
  /**
   * True if a Postgres already running on this data is supervised, and stopped at the end unless others use it; false
   * if it is only used.
   */
  readonly adopt: boolean
  /** False only if the data may be lost (tests). */
  readonly durable?: boolean
  /** Free bytes on the disk; defaults to those of the folder's disk (replaced in tests). */
  readonly free?: Effect.Effect<number>
  /**
   * `tookOver`: an already running Postgres belongs to this server now. `leaving`: it belongs to a successor, which
   * stops it.
   */
  readonly handover?: { readonly tookOver: Effect.Effect<boolean>; readonly leaving: Effect.Effect<boolean> }
  /** Also listens on a free port of 127.0.0.1, which becomes the endpoint. */
  readonly tcp?: boolean
}

/** Maximum bytes of a socket path: `sun_path` holds 104 bytes on macOS, 108 on Linux. */
const socketPathBytesMax = 103

/** Delays between attempts to restart Postgres. */
const backoff = Schedule.min([Schedule.exponential("200 millis"), Schedule.spaced("10 seconds")]).pipe(
  Schedule.jittered
)

/**
 * An embedded Postgres for the lifetime of the layer: created on the first start, reused if it already runs, stopped
 * cleanly at the end. If it dies it is restarted at the same endpoint, until that succeeds.
 */
export class EmbeddedPostgres extends Context.Service<EmbeddedPostgres, {
  readonly endpoint: Postmaster.Endpoint
  readonly username: string
  readonly password: Redacted.Redacted<string>
  /** Process id of the running Postgres. */
  readonly pid: Effect.Effect<number>
}>()("murmuration/layers/EmbeddedPostgres") {
  static readonly layer = (
    options: Options
  ): Layer.Layer<EmbeddedPostgres, OperatorError, FileSystem.FileSystem | Path.Path | SecureRandom.SecureRandom> =>
    Layer.effect(EmbeddedPostgres, make(options))
}

const make = traced("EmbeddedPostgres.make")(function*(options: Options) {
  const path = yield* Path.Path
  const dataDir = path.resolve(options.dataDir)
  const folder = yield* DataFolder.of(dataDir)
  yield* prepareDataDir(dataDir)
  yield* DataFolder.removeDrafts(dataDir)
  if (yield* DataFolder.exists(folder)) yield* passwordIsThere(dataDir)
  const random = yield* SecureRandom.SecureRandom
  const password = yield* SecretFile.keep(dataDir, passwordName, Effect.map(random.randomBytes(24), Hex.encode))

  const running = yield* Postmaster.find(folder)
  if (Option.isSome(running) && !options.adopt) {
    const { endpoint, pid } = running.value
    return EmbeddedPostgres.of({ endpoint, username: DataFolder.username, password, pid: Effect.succeed(pid) })
  }

  const binaries = yield* Binaries.find
  const runAs = yield* RunAs.choose(binaries, folder, dataDir)
  yield* DataFolder.checkVersion(folder, binaries)
  if (Option.isNone(running) && (options.durable ?? true)) yield* DiskSpace.freeReserve(dataDir, options.free)
  if (!(yield* DataFolder.exists(folder))) yield* DataFolder.initialise(folder, binaries, runAs, password)
  if (Option.isNone(running)) {
    yield* DataFolder.changeOwner(folder, runAs).pipe(
      Effect.mapError((error) => new OperatorError({ message: error.message }))
    )
  }
  const listen = yield* chooseListen(folder, options.tcp ?? false)
  const start = Effect.gen(function*() {
    const other = yield* Postmaster.find(folder)
    if (Option.isSome(other)) return other.value
    const archive = yield* WalArchive.recorded(dataDir)
    if (archive !== undefined) yield* WalArchive.open(archive.folder, runAs)
    return yield* Postmaster.start(folder, binaries, runAs, listen, {
      durable: options.durable ?? true,
      ...(archive === undefined ? {} : { more: WalArchive.archiving(archive.folder) })
    })
  })

  const begin = Option.isSome(running)
    ? Effect.succeed(running.value)
    : Effect.retry(start, { times: 3, schedule: backoff })
  const ours = options.adopt && Option.isNone(running)
  const { handover = { tookOver: Effect.succeed(false), leaving: Effect.succeed(false) } } = options
  const current = yield* Effect.acquireRelease(
    Effect.flatMap(begin, Ref.make),
    Effect.fnUntraced(function*(current) {
      const postmaster = yield* Ref.get(current)
      if (yield* handover.leaving) return yield* postmaster.detach
      const own = ours || (yield* handover.tookOver)
      if (own || (yield* isUnused(postmaster.endpoint, password))) yield* Postmaster.stop(postmaster)
    }),
    { interruptible: true }
  )
  yield* Effect.forkScoped(Effect.forever(Effect.gen(function*() {
    const reason = yield* (yield* Ref.get(current)).ended
    yield* Effect.logError(`Postgres exited and is being restarted: ${reason}`)
    const restart = start.pipe(
      Effect.tapError((error) => Effect.logError(error.message)),
      Effect.retry(backoff)
    )
    yield* Effect.uninterruptibleMask((restore) => Effect.flatMap(restore(restart), (next) => Ref.set(current, next)))
    yield* Effect.logInfo("Postgres is running again")
  })))
  if (options.adopt && (options.durable ?? true)) {
    const { endpoint } = yield* Ref.get(current)
    const client = PgClient.make({
      ...endpoint,
      username: DataFolder.username,
      password,
      database: "postgres",
      maxConnections: 1
    })
    const sql = yield* client.pipe(
      Effect.provide(Reactivity.layer),
      Effect.mapError((error) => new OperatorError({ message: error.message }))
    )
    yield* DiskSpace.watch(dataDir, sql, options.free)
  }
  return EmbeddedPostgres.of({
    endpoint: (yield* Ref.get(current)).endpoint,
    username: DataFolder.username,
    password,
    pid: Effect.map(Ref.get(current), ({ pid }) => pid)
  })
})

/** Returns true if there are no other sessions, such as those of another server or a command line. */
const isUnused = (endpoint: Postmaster.Endpoint, password: Redacted.Redacted<string>) =>
  Effect.flatMap(
    PgClient.PgClient,
    (sql) => sql`SELECT FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()`
  ).pipe(
    Effect.map((sessions) => sessions.length === 0),
    Effect.provide(PgClient.layer({ ...endpoint, username: DataFolder.username, password, database: "postgres" })),
    Effect.orElseSucceed(() => true)
  )

export const passwordName = "postgres_password"

const prepareDataDir = Effect.fnUntraced(function*(dataDir: string) {
  const fs = yield* FileSystem.FileSystem
  // Other users may traverse it, because Postgres may run as another user; secret files are closed themselves.
  yield* fs.makeDirectory(dataDir, { recursive: true, mode: 0o711 }).pipe(
    Effect.mapError((error) =>
      new OperatorError({ message: `The data folder ${dataDir} (DATA_DIR) could not be created: ${error.message}` })
    )
  )
})

const passwordIsThere = Effect.fnUntraced(function*(dataDir: string) {
  const fs = yield* FileSystem.FileSystem
  const file = yield* SecretFile.location(dataDir, passwordName)
  if (yield* Effect.orElseSucceed(fs.exists(file), () => false)) return
  return yield* new OperatorError({
    message: `${file} is missing; without it the data in ${dataDir} cannot be opened. Restore it from your backup.`
  })
})

/** Returns the socket file or port that Postgres listens on for a folder. */
export const chooseListen = Effect.fnUntraced(function*(folder: string, tcp: boolean) {
  const fits = (port?: number) => Buffer.byteLength(Postmaster.socketFile(folder, port)) <= socketPathBytesMax
  if (!tcp && fits()) return { folder } satisfies Listen
  const port = yield* freePort
  return { port, ...(fits(port) ? { folder } : {}) } satisfies Listen
})

/** Returns a port of 127.0.0.1 that was free a moment ago. */
const freePort = Effect.callback<number, OperatorError>((resume) => {
  const server = createServer()
  server.once("error", (error) => resume(new OperatorError({ message: error.message })))
  server.listen(0, "127.0.0.1", () => {
    const address = server.address()
    server.close(() => resume(Effect.succeed(typeof address === "object" && address !== null ? address.port : 0)))
  })
})
