import { Effect, FileSystem, Layer, Path } from "effect"
import { OldFiles } from "../services/mastodon/OldFiles.ts"
import { OperatorError } from "./OperatorError.ts"

/** Folders of Mastodon with files that are copied. */
const copiedFolders = ["accounts", "media_attachments", "custom_emojis"]

/** Fails if the folder has none of Mastodon's folders, or does not let them be seen: each file would count as missing. */
const checkFolder = Effect.fnUntraced(function*(folder: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  for (const name of copiedFolders) {
    if (yield* Effect.orElseSucceed(fs.exists(path.join(folder, name)), () => false)) return
  }
  return yield* new OperatorError({
    message: `--media ${folder} has none of Mastodon's folders ${copiedFolders.join(", ")}: ` +
      "pass its public/system, and let the user of this command read it."
  })
})

/** Files of a Mastodon server in a folder of this machine; without a folder there are none. */
export const layer = (folder: string | undefined) =>
  Layer.effect(
    OldFiles,
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const path = yield* Path.Path
      if (folder !== undefined) yield* checkFolder(folder)
      const root = path.resolve(folder ?? ".")
      const fileAt = (name: string, place: string) =>
        fs.stat(place).pipe(
          Effect.map(({ size, type }) =>
            type === "File" ? { name, path: Effect.succeed(place), bytes: Number(size) } : undefined
          ),
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
