import { Effect, FileSystem, Layer, Path } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { missingAvatarPath, missingHeaderPath } from "../../services/identity/PictureAddresses.ts"
import { thumbnailPath } from "../html/PagePaths.ts"

/** Files of the folder `assets` by URL; no part of a request's path becomes part of a file path. */
const files: ReadonlyArray<readonly [address: `/${string}`, file: string]> = [
  [missingAvatarPath, "avatar.png"],
  [missingHeaderPath, "header.png"],
  [thumbnailPath, "preview.png"]
]

const make = Effect.gen(function*() {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const routes = yield* Effect.forEach(
    files,
    ([address, file]) =>
      path.fromFileUrl(new URL(`./assets/${file}`, import.meta.url)).pipe(
        Effect.flatMap(fs.readFile),
        Effect.map((bytes) =>
          HttpRouter.add(
            "GET",
            address,
            HttpServerResponse.uint8Array(bytes, {
              contentType: "image/png",
              headers: { "cache-control": "public, max-age=86400", "x-content-type-options": "nosniff" }
            })
          )
        )
      )
  )
  return Layer.mergeAll(Layer.empty, ...routes)
})

/** The server's default pictures, and those of accounts without their own. */
export const layer = Layer.unwrap(Effect.orDie(make))
