import { Effect, Layer } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { Appearance } from "../../services/instance/Appearance.ts"
import { isKnown } from "../guard/EntityTags.ts"
import { themePath } from "../html/PagePaths.ts"
import { type Accent, accentOf } from "../html/Palette.ts"

const rule = ({ accent, onAccent }: Accent): string => `:root { --accent: ${accent}; --on-accent: ${onAccent} }`

/** What staff's colour adds to the common stylesheet; nothing where there is none. */
const styleOf = (color: string | null): string =>
  color === null ? "" : `${rule(accentOf(color, "light"))}
@media (prefers-color-scheme: dark) { ${rule(accentOf(color, "dark"))} }
`

/** The server's colour as a file, so that the pages' policy allows no inline style; browsers ask each time whether it is another. */
export const layer = Layer.unwrap(Effect.map(Appearance, ({ current }) =>
  HttpRouter.add(
    "GET",
    themePath,
    Effect.gen(function*() {
      const { headers } = yield* HttpServerRequest.HttpServerRequest
      const { accentColor } = yield* current
      const etag = `"${accentColor?.slice(1) ?? "none"}"`
      const kept = { "cache-control": "public, no-cache", "x-content-type-options": "nosniff", etag }
      return isKnown(headers, etag)
        ? HttpServerResponse.empty({ status: 304, headers: kept })
        : HttpServerResponse.text(styleOf(accentColor), { contentType: "text/css; charset=utf-8", headers: kept })
    })
  )))
