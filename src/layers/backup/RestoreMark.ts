import { Effect, Exit, FileSystem, Path, Ref, Schema } from "effect"
import { traced } from "../../services/runtime/Traced.ts"
import * as Processes from "../embedded/Processes.ts"
import { OperatorError } from "../OperatorError.ts"

/*
 * File in the data folder while a restore writes to it. It stays if the restore does not end: a server that started
 * there would be an empty one under the old name, and other servers would forget its accounts.
 */

const Process = Schema.Struct({ pid: Schema.Int, start: Schema.String })
const StoredProcess = Schema.fromJsonString(Process)

const fileIn = (dataDir: string) => Effect.map(Path.Path, (path) => path.resolve(dataDir, "restore.json"))

/** Returns the process that restores, if it still runs. */
const running = Effect.fnUntraced(function*(file: string) {
  const fs = yield* FileSystem.FileSystem
  const found = yield* fs.readFileString(file).pipe(
    Effect.flatMap(Schema.decodeUnknownEffect(StoredProcess)),
    Effect.orElseSucceed(() => undefined)
  )
  if (found === undefined || Processes.startOf(found.pid) !== found.start) return undefined
  return (yield* Processes.alive(found.pid)) ? found.pid : undefined
})

const isThere = (file: string) =>
  Effect.flatMap(FileSystem.FileSystem, (fs) => Effect.orElseSucceed(fs.exists(file), () => false))

const beside = (dataDir: string, pid: number) =>
  new OperatorError({ message: `A restore into ${dataDir} (DATA_DIR) is running (process ${pid})` })

/** Fails if a restore into the data folder runs, or did not end. */
export const refuse = traced("RestoreMark.refuse")(function*(dataDir: string) {
  const file = yield* fileIn(dataDir)
  if (!(yield* isThere(file))) return
  const pid = yield* running(file)
  if (pid !== undefined) return yield* beside(dataDir, pid)
  return yield* new OperatorError({
    message:
      `A restore into ${dataDir} (DATA_DIR) did not end. Run the same command again. If it refuses because the ` +
      `target is not empty, or to start without it, delete ${file}.`
  })
})

/**
 * Runs a restore into the data folder, one at a time. `use` gets an effect for the moment from which a failure leaves
 * something behind; after a failure before it, the folder is usable as it was.
 */
export const during = <A, E, R>(dataDir: string, use: (touched: Effect.Effect<void>) => Effect.Effect<A, E, R>) =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const file = yield* fileIn(dataDir)
    const isTouched = yield* Ref.make(yield* isThere(file))
    const own = `${file}.${process.pid}`
    const begin = Effect.gen(function*() {
      const pid = yield* running(file)
      if (pid !== undefined) return yield* beside(dataDir, pid)
      yield* fs.makeDirectory(dataDir, { recursive: true, mode: 0o711 })
      yield* fs.remove(file, { force: true })
      const content = JSON.stringify({ pid: process.pid, start: Processes.startOf(process.pid) })
      yield* fs.writeFileString(own, content, { mode: 0o600 })
      // Fails if another restore has made its mark in the meantime; no other process sees a mark without its content.
      yield* Effect.ensuring(fs.link(own, file), Effect.ignore(fs.remove(own)))
    }).pipe(
      Effect.catchTag(
        "PlatformError",
        ({ message }) => new OperatorError({ message: `${dataDir} (DATA_DIR) cannot be written: ${message}` })
      )
    )
    return yield* Effect.acquireUseRelease(
      begin,
      () => use(Ref.set(isTouched, true)),
      Effect.fnUntraced(function*(_, exit) {
        const keeps = Exit.isFailure(exit) && (yield* Ref.get(isTouched))
        // A mark that stays names no process: this one may live longer than the restore.
        yield* Effect.ignore(keeps ? fs.writeFileString(file, "") : fs.remove(file, { force: true }))
      })
    )
  })
