import { Effect, FileSystem, Path, Redacted } from "effect"
import { SecureRandom } from "effect/crypto"
import { traced } from "../services/runtime/Traced.ts"
import { OperatorError } from "./OperatorError.ts"

/** Subfolder of the data folder for secrets that the server generated. */
const folderName = "secrets"

/** Returns the path of the secret with this name. */
export const location = Effect.fnUntraced(function*(dataDir: string, name: string) {
  const path = yield* Path.Path
  return path.join(dataDir, folderName, name)
})

/** Returns the secret `name` of `dataDir`; undefined without one. */
export const find = Effect.fnUntraced(function*(dataDir: string, name: string) {
  const fs = yield* FileSystem.FileSystem
  return yield* fs.readFileString(yield* location(dataDir, name)).pipe(
    Effect.map((text) => Redacted.make(text.trim())),
    Effect.orElseSucceed(() => undefined)
  )
})

/**
 * Returns the secret `name` of `dataDir`; `make` creates it if it is missing. Only its owner may read the file. The
 * file is written atomically. Of two concurrent writers, the first wins for both.
 */
export const keep = traced("SecretFile.keep")(
  function*(dataDir: string, name: string, make: Effect.Effect<string, never, SecureRandom.SecureRandom>) {
    const fs = yield* FileSystem.FileSystem
    const path = yield* Path.Path
    const random = yield* SecureRandom.SecureRandom
    const file = yield* location(dataDir, name)
    yield* fs.makeDirectory(path.dirname(file), { recursive: true, mode: 0o700 })
    if (!(yield* fs.exists(file))) {
      const draft = `${file}.${yield* random.uuidV4()}`
      yield* fs.writeFileString(draft, `${yield* make}\n`, { mode: 0o600 })
      yield* fs.link(draft, file).pipe(
        Effect.catch((error) => error.reason._tag === "AlreadyExists" ? Effect.void : Effect.fail(error)),
        Effect.ensuring(Effect.ignore(fs.remove(draft)))
      )
    }
    return Redacted.make((yield* fs.readFileString(file)).trim())
  },
  (effect, dataDir, name) =>
    Effect.mapError(
      effect,
      (error) =>
        new OperatorError({ message: `The secret ${name} could not be stored in ${dataDir}: ${error.message}` })
    )
)

/** Replaces the secret `name` of `dataDir` atomically. */
export const replace = traced("SecretFile.replace")(
  function*(dataDir: string, name: string, value: string) {
    const fs = yield* FileSystem.FileSystem
    const path = yield* Path.Path
    const random = yield* SecureRandom.SecureRandom
    const file = yield* location(dataDir, name)
    yield* fs.makeDirectory(path.dirname(file), { recursive: true, mode: 0o700 })
    const draft = `${file}.${yield* random.uuidV4()}`
    yield* fs.writeFileString(draft, `${value}\n`, { mode: 0o600 })
    yield* Effect.onError(fs.rename(draft, file), () => Effect.ignore(fs.remove(draft)))
  },
  (effect, dataDir, name) =>
    Effect.mapError(
      effect,
      (error) =>
        new OperatorError({ message: `The secret ${name} could not be stored in ${dataDir}: ${error.message}` })
    )
)
