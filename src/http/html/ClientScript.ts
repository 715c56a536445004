import { Effect, FileSystem, Path } from "effect"
import { stripTypeScriptTypes } from "node:module"

/** Reads a script that browsers run: its TypeScript without types and blank lines. A missing file is a defect. */
export const readClientScript = Effect.fnUntraced(function*(url: URL) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const text = stripTypeScriptTypes(yield* fs.readFileString(yield* path.fromFileUrl(url)))
  return text.split("\n").map((line) => line.trimEnd()).filter((line) => line !== "").join("\n")
}, Effect.orDie)
