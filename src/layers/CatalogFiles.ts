import { Effect, FileSystem, Layer, Path, Schema } from "effect"
import { type Catalog, CatalogFile, catalogOf, Catalogs } from "../services/languages/Catalogs.ts"
import { canonical } from "../services/languages/Negotiation.ts"

/** Folder of the catalogs, one file per language tag: `pt.json`, `zh-CN.json`. */
export const folder = new URL("./languages/", import.meta.url)

const decode = Schema.decodeUnknownEffect(Schema.fromJsonString(CatalogFile))

const read = Effect.gen(function*() {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const at = yield* path.fromFileUrl(folder)
  const names = (yield* fs.readDirectory(at)).filter((name) => name.endsWith(".json"))
  const found = yield* Effect.forEach(names, (name) => {
    const tag = canonical(name.slice(0, -".json".length))
    return fs.readFileString(path.join(at, name)).pipe(
      Effect.flatMap(decode),
      Effect.map((file) => tag === undefined ? [] : [[tag, catalogOf(tag, file)] as const]),
      Effect.catch((error) =>
        Effect.as(Effect.logWarning(`the text catalog ${name} could not be read`, error.message), [])
      )
    )
  })
  return new Map(found.flat())
}).pipe(Effect.orDie)

/** Cache of the parsed catalogs: the program's files do not change while it runs. */
let known: ReadonlyMap<string, Catalog> | undefined

/**
 * Reads every catalog. One that cannot be read is skipped with a warning, so that a mistake costs only that language.
 */
export const layer = Layer.effect(
  Catalogs,
  Effect.suspend(() =>
    known === undefined ? Effect.tap(read, (found) => Effect.sync(() => known = found)) : Effect.succeed(known)
  )
)
