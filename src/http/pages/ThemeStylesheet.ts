import { Effect, Layer } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { Appearance } from "../../services/instance/Appearance.ts"
import { isKnown } from "../guard/EntityTags.ts"
import { themePath } from "../html/PagePaths.ts"
import { type Accent, accentOf } from "../html/Palette.ts"

const rule = ({ accent, onAccent }: Accent): string => `:root { --accent: ${accent}; --on-accent: ${onAccent} }`

/** Returns the styles of staff's colour; empty if none is set. */
const styleOf = (color: string | null): string =>
  color === null ? "" : `${rule(accentOf(color, "light"))}
@media (prefers-color-scheme: dark) { ${rule(accentOf(color, "dark"))} }
`

/**
 * Serves the server's colour as a file, so that the pages' policy needs no inline styles; browsers revalidate it each
 * time.
 */
export const layer = Layer.unwrap(Effect.map(Appearance, ({ current }) =>
  HttpRouter.add(
    "GET",
    themePath,
    Effect.gen(function*() {
      const { headers } = yield* HttpServerRequest.HttpServerRequest
      const { accentColor } = yield* current
      const etag = `"${accentColor?.slice(1) ?? "none"}"`
      const cacheHeaders = { "cache-control": "public, no-cache", "x-content-type-options": "nosniff", etag }
      return isKnown(headers, etag)
        ? HttpServerResponse.empty({ status: 304, headers: cacheHeaders })
        : HttpServerResponse.text(styleOf(accentColor), {
          contentType: "text/css; charset=utf-8",
          headers: cacheHeaders
        })
    })
  )))
