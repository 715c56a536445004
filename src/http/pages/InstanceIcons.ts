import { Effect, FileSystem, Layer, Path } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { Appearance, type AppearanceFields } from "../../services/instance/Appearance.ts"
import { appIconEdges, faviconEdges, iconName } from "../../services/instance/PictureSettings.ts"
import { Storage } from "../../services/media/Storage.ts"
import { isKnown } from "../guard/EntityTags.ts"
import * as Reply from "../guard/Reply.ts"
import { anyFaviconPath, faviconPath, iconPath } from "../html/PagePaths.ts"

/** Time for which browsers cache an icon, in seconds; its URL stays the same when it is replaced. */
const keptSeconds = 3_600
/** Size of the favicon for requests that state none, in pixels. */
const usualEdge = 48

interface IconFile {
  readonly address: `/${string}`
  /** The default file, in the folder `assets`. */
  readonly file: string
  /** Returns the name of the operator's own icon; undefined without one. */
  readonly name: (look: AppearanceFields) => string | undefined
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
    name: ({ appIcon }: AppearanceFields) => iconName(appIcon, edge)
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

    const respond = Effect.gen(function*() {
      const { headers } = yield* HttpServerRequest.HttpServerRequest
      const stored = name(yield* current)
      const shown = stored === undefined ? ownHeaders : headersOf(stored.replaceAll("/", "-"))
      if (isKnown(headers, shown.etag)) return HttpServerResponse.empty({ status: 304, headers: shown })
      const size = stored === undefined ? undefined : yield* storage.size(stored)
      // An icon that another node has just replaced may be deleted before this node knows; until then the default is
      // shown.
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
        respond,
        "StorageFailed",
        (error) => Effect.andThen(Effect.logWarning(address, error), Reply.unavailable)
      )
    )
  })
  return Layer.mergeAll(Layer.empty, ...(yield* Effect.forEach(files, route)))
})

/** Instance icons at fixed URLs: the operator's, or the defaults. */
export const layer = Layer.unwrap(Effect.orDie(make))
