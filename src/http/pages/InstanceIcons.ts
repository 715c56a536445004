import { Effect, FileSystem, Layer, Path } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { Appearance, type Look } from "../../services/instance/Appearance.ts"
import { appIconEdges, faviconEdges, iconName } from "../../services/instance/PictureSettings.ts"
import { Storage } from "../../services/media/Storage.ts"
import { isKnown } from "../guard/EntityTags.ts"
import * as Reply from "../guard/Reply.ts"
import { anyFaviconPath, faviconPath, iconPath } from "../html/PagePaths.ts"

/** How long browsers keep an icon whose address stays when it is another, in seconds. */
const keptSeconds = 3_600
/** The favicon for who does not say how large. */
const usualEdge = 48

interface IconFile {
  readonly address: `/${string}`
  /** The server's own, in the folder `assets`. */
  readonly file: string
  /** The operator's, where there is one. */
  readonly name: (look: Look) => string | undefined
}

const favicon = (address: `/${string}`, edge: number): IconFile => ({
  address,
  file: `favicon-${edge}.png`,
  name: (look) => iconName(look.favicon, edge)
})

const files: ReadonlyArray<IconFile> = [
  ...appIconEdges.map((edge) => ({
    address: iconPath(edge),
    file: `icon-${edge}.png`,
    name: ({ appIcon }: Look) => iconName(appIcon, edge)
  })),
  ...faviconEdges.map((edge) => favicon(faviconPath(edge), edge)),
  favicon(anyFaviconPath, usualEdge)
]

const headersOf = (tag: string) => ({
  "cache-control": `public, max-age=${keptSeconds}`,
  "x-content-type-options": "nosniff",
  etag: `"${tag}"`
})

const make = Effect.gen(function*() {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const { current } = yield* Appearance
  const storage = yield* Storage

  const route = Effect.fnUntraced(function*({ address, file, name }: IconFile) {
    const own = yield* Effect.flatMap(path.fromFileUrl(new URL(`./assets/${file}`, import.meta.url)), fs.readFile)
    const ownHeaders = headersOf(`own-${file}`)

    const answer = Effect.gen(function*() {
      const { headers } = yield* HttpServerRequest.HttpServerRequest
      const stored = name(yield* current)
      const shown = stored === undefined ? ownHeaders : headersOf(stored.replaceAll("/", "-"))
      if (isKnown(headers, shown.etag)) return HttpServerResponse.empty({ status: 304, headers: shown })
      const size = stored === undefined ? undefined : yield* storage.size(stored)
      // One that was replaced this moment on another node is gone before we hear of it: for that moment it is our own.
      return stored === undefined || size === undefined
        ? HttpServerResponse.uint8Array(own, { contentType: "image/png", headers: ownHeaders })
        : HttpServerResponse.stream(storage.read(stored, { offset: 0, length: size }), {
          contentType: "image/png",
          contentLength: size,
          headers: shown
        })
    })
    return HttpRouter.add(
      "GET",
      address,
      Effect.catchTag(
        answer,
        "StorageFailed",
        (error) => Effect.andThen(Effect.logWarning(address, error), Reply.unavailable)
      )
    )
  })
  return Layer.mergeAll(Layer.empty, ...(yield* Effect.forEach(files, route)))
})

/** The site's icons at addresses that stay: those that staff set, else the server's own. */
export const layer = Layer.unwrap(Effect.orDie(make))
