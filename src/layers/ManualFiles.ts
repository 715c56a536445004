import { Effect, FileSystem, Layer, Path } from "effect"
import { Manual } from "../services/instance/Manual.ts"

/** Reads all documents: those of the root folder, and all below `docs`. */
const read = Effect.fnUntraced(function*(root: URL) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const at = yield* path.fromFileUrl(root)
  const inDocs = fs.readDirectory(path.join(at, "docs"), { recursive: true }).pipe(
    Effect.map((names) => names.map((name) => `docs/${name.replaceAll("\\", "/")}`))
  )
  const names = yield* Effect.all([fs.readDirectory(at), inDocs])
  const texts = yield* Effect.forEach(
    names.flat().filter((name) => name.endsWith(".md")),
    (name) => Effect.map(fs.readFileString(path.join(at, name)), (text) => [name, text] as const),
    { concurrency: 8 }
  )
  return new Map(texts)
  // A package may leave the folder out.
}, Effect.orElseSucceed(() => new Map<string, string>()))

/** Provides the documents of a folder. */
export const layerOf = (root: URL) =>
  Layer.effect(
    Manual,
    Effect.gen(function*() {
      const services = yield* Effect.context<FileSystem.FileSystem | Path.Path>()
      return yield* Effect.cached(Effect.provide(read(root), services))
    })
  )

/** Provides the documents of this program. */
export const layer = layerOf(new URL("../../", import.meta.url))
