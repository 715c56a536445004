import { Console, Effect, FileSystem, Stream } from "effect"
import { OperatorError } from "../layers/OperatorError.ts"
import * as Rejects from "../services/mastodon/Rejects.ts"

/** Writes the file of the rows that are not copied, and says how many there are. Without any, no file remains. */
export const write = Effect.fnUntraced(function*(path: string) {
  const fs = yield* FileSystem.FileSystem
  const count = yield* Rejects.count
  const unwritten = ({ message }: Error) =>
    new OperatorError({
      message: `The file of rejected rows cannot be written: ${message}. To write it, run verify with --rejects FILE.`
    })
  yield* Effect.mapError(fs.remove(path, { force: true }), unwritten)
  if (count === 0) return yield* Console.log("Every row was copied.")
  // Reasons quote values of the rows. A file of an earlier run could be readable by others.
  const file = fs.sink(path, { flag: "wx", mode: 0o600 })
  yield* Rejects.lines.pipe(
    Stream.encodeText,
    Stream.run(file),
    Effect.catchTag("PlatformError", (error) => unwritten(error))
  )
  yield* Console.log(`${count} rows were not copied; ${path} has the reasons.`)
})
