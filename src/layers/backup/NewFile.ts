import { Effect, FileSystem } from "effect"
import { PlatformError } from "effect/PlatformError"
import { OperatorError } from "../OperatorError.ts"

/**
 * Creates a file that only its owner can read. `fill` writes it in parts; then the file appears under its name, and is
 * on the disk. A failure or an interruption leaves nothing. An existing file is refused.
 */
export const create = <A, E, R>(
  path: string,
  fill: (put: (chunk: Uint8Array) => Effect.Effect<void, PlatformError>) => Effect.Effect<A, E, R>
) =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const draft = `${path}.part`
    if (yield* fs.exists(path)) return yield* new OperatorError({ message: `${path} exists already` })
    return yield* Effect.scoped(Effect.gen(function*() {
      // A draft that a crash left is not reused: it could be readable by others, or a link.
      yield* fs.remove(draft, { force: true })
      const file = yield* fs.open(draft, { flag: "wx", mode: 0o600 })
      const result = yield* fill((chunk) => file.writeAll(chunk))
      yield* file.sync
      return result
    })).pipe(
      Effect.tap(() => fs.rename(draft, path)),
      Effect.onError(() => Effect.ignore(fs.remove(draft, { force: true })))
    )
  }).pipe(
    Effect.mapError((error) =>
      error instanceof PlatformError
        ? new OperatorError({ message: `${path} cannot be written: ${error.message}` })
        : error
    )
  )
