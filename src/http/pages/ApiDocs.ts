import { Effect, Layer } from "effect"
import { HttpRouter } from "effect/http"
import type { HttpApi, HttpApiGroup } from "effect/http-api"
import { ServerConfig } from "../../services/instance/ServerConfig.ts"
import { english } from "../../services/languages/Catalogs.ts"
import { documentOf } from "../docs/OpenApiDocument.ts"
import { referenceOf } from "../docs/Reference.ts"
import * as Reply from "../guard/Reply.ts"
import { docsPath } from "../html/PagePaths.ts"
import { encode } from "../wire/Keys.ts"
import { PublicPages } from "./PublicPages.ts"

const openApiPath = "/api/openapi.json"

/**
 * Documentation of `api` for programs and people, generated on first use. The page is plain HTML of our own: Effect's
 * viewers contain megabytes of inline script, which our policy rightly refuses. It is in English, like the names in it.
 */
export const layer = <Id extends string, Groups extends HttpApiGroup.Constraint>(
  api: HttpApi.HttpApi<Id, Groups>
) =>
  Layer.unwrap(Effect.gen(function*() {
    const config = yield* ServerConfig
    const pages = yield* PublicPages
    const document = yield* Effect.cached(Effect.sync(() => documentOf(api, config)))
    const json = yield* Effect.cached(
      Effect.map(document, (openApi) =>
        Reply.json(encode(openApi), { headers: { "cache-control": "private, no-store" } }))
    )
    const body = yield* Effect.cached(Effect.map(document, referenceOf))
    const page = Effect.flatMap(body, (body) =>
      pages.respond({ words: english, title: "The API", body }))
    return Layer.mergeAll(
      HttpRouter.add("GET", openApiPath, json),
      HttpRouter.add("GET", docsPath, page)
    )
  })).pipe(Layer.provide(PublicPages.layer))
