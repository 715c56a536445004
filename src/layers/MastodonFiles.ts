import { Effect, FileSystem, Layer, Path } from "effect"
import { OldFiles } from "../services/mastodon/OldFiles.ts"

/** Files of a Mastodon server in a folder of this machine; without a folder there are none. */
export const layer = (folder: string | undefined) =>
  Layer.effect(
    OldFiles,
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const path = yield* Path.Path
      const root = path.resolve(folder ?? ".")
      const fileAt = (name: string, place: string) =>
        fs.stat(place).pipe(
          Effect.map(({ size, type }) => type === "File" ? { name, path: place, bytes: Number(size) } : undefined),
          Effect.orElseSucceed(() => undefined)
        )
      return OldFiles.of({
        find: Effect.fnUntraced(function*(names) {
          if (folder === undefined) return undefined
          for (const name of names) {
            const place = path.resolve(root, name)
            // A name in the database must not lead out of the folder.
            if (!place.startsWith(root + path.sep)) continue
            const found = yield* fileAt(name, place)
            if (found !== undefined) return found
          }
          return undefined
        })
      })
    })
  )
