import { Effect, FileSystem, Option } from "effect"
import { PlatformError } from "effect/PlatformError"
import { OperatorError } from "../OperatorError.ts"

const existsAlready = (path: string) => new OperatorError({ message: `${path} exists already` })

/** Gives the draft its name without replacing a file. Disks without hard links cannot do that; there it is renamed. */
const publish = Effect.fnUntraced(function*(draft: string, path: string) {
  const fs = yield* FileSystem.FileSystem
  const linked = yield* Effect.result(fs.link(draft, path))
  if (linked._tag === "Success") return
  if (linked.failure.reason._tag === "AlreadyExists" || (yield* fs.exists(path))) return yield* existsAlready(path)
  yield* fs.rename(draft, path)
})

/**
 * Creates a file that only its owner can read. `fill` writes it in parts; then the file appears under its name, and is
 * on the disk. A failure or an interruption leaves nothing. A file that exists, also since the beginning, is refused; of
 * two commands that write one name, only the later one succeeds.
 */
export const create = <A, E, R>(
  path: string,
  fill: (put: (chunk: Uint8Array) => Effect.Effect<void, PlatformError>) => Effect.Effect<A, E, R>
) =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const draft = `${path}.part`
    if (yield* fs.exists(path)) return yield* existsAlready(path)
    // A draft that a crash left is not reused: it could be readable by others, or a link.
    yield* fs.remove(draft, { force: true })
    return yield* Effect.scoped(Effect.gen(function*() {
      const file = yield* fs.open(draft, { flag: "wx", mode: 0o600 })
      const { ino } = yield* file.stat
      /** False if another command has replaced the draft by its own. */
      const isOurs = fs.stat(draft).pipe(
        Effect.map((found) => Option.getOrUndefined(found.ino) === Option.getOrUndefined(ino)),
        Effect.orElseSucceed(() => false)
      )
      return yield* Effect.gen(function*() {
        const result = yield* fill((chunk) => file.writeAll(chunk))
        yield* file.sync
        if (!(yield* isOurs)) {
          return yield* new OperatorError({ message: `${path} was not written: another command writes it` })
        }
        yield* publish(draft, path)
        return result
      }).pipe(Effect.ensuring(Effect.ignore(Effect.flatMap(isOurs, (ours) => ours ? fs.remove(draft) : Effect.void))))
    }))
  }).pipe(
    Effect.mapError((error) =>
      error instanceof PlatformError
        ? new OperatorError({ message: `${path} cannot be written: ${error.message}` })
        : error
    )
  )
