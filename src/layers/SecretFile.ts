import { Effect, FileSystem, Path, Redacted } from "effect"
import { SecureRandom } from "effect/crypto"
import { traced } from "../services/Traced.ts"
import { OperatorError } from "./OperatorError.ts"

/** The folder of secrets that this server made for itself, below its data. */
const folderName = "secrets"

/** Where the secret of that name is kept. */
export const location = Effect.fnUntraced(function*(dataDir: string, name: string) {
  const path = yield* Path.Path
  return path.join(dataDir, folderName, name)
})

/**
 * The secret kept under `name` in `dataDir`, made by `make` where there is none yet. Readable for its owner only. The
 * file appears whole or not at all. Of two that make it at once the first wins for both.
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
      (error) => new OperatorError({ message: `The secret ${name} cannot be kept in ${dataDir}: ${error.message}` })
    )
)
