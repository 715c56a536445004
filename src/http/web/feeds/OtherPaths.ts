import { Effect } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { feedPath } from "./Formats.ts"

/** Serves `page`, or leads from Mastodon's address of a feed, `/@name.rss`, to ours. */
export const atFeed = <E, R>(before: string, page: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>) =>
  Effect.flatMap(HttpRouter.params, ({ name = "" }) => {
    const [, named, format] = /^([^@.]+)\.(rss|atom)$/.exec(name) ?? []
    return named === undefined
      ? page
      : Effect.succeed(
        HttpServerResponse.redirect(
          feedPath(`${before}${encodeURIComponent(named)}`, format === "atom" ? "atom" : "rss"),
          { status: 301, headers: { "cache-control": "public, max-age=86400" } }
        )
      )
  })
