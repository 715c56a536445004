import { Effect, Layer } from "effect"
import { HttpRouter } from "effect/http"
import { Timelines } from "../../services/feeds/Timelines.ts"
import { ServerConfig } from "../../services/instance/ServerConfig.ts"
import { Tags } from "../../services/statuses/Tags.ts"
import { statusRows } from "../render/Pages.ts"
import { html } from "./Html.ts"
import { list, Posts } from "./Posts.ts"
import { PublicPages } from "./PublicPages.ts"

const make = Effect.gen(function*() {
  const { limitedFederation, publicTimelines } = yield* ServerConfig
  const pages = yield* PublicPages
  const posts = yield* Posts
  const tags = yield* Tags
  const timelines = yield* Timelines

  const page = Effect.gen(function*() {
    const { name = "" } = yield* HttpRouter.params
    const tag = yield* tags.find(name)
    const ids = yield* timelines.tagged(
      undefined,
      { name: tag.name, any: [], all: [], none: [], local: false, remote: false, onlyMedia: false },
      { limit: statusRows }
    )
    const shown = yield* posts.show(ids)
    return pages.respond({
      title: `#${tag.name}`,
      body: shown.length === 0 ? html`<p class="soft">No public post has this hashtag.</p>` : list(shown)
    })
  }).pipe(Effect.catchTag("RecordNotFound", () => Effect.succeed(pages.notFound)))

  return HttpRouter.add("GET", "/tags/:name", pages.behind(limitedFederation || publicTimelines === "members", page))
})

/** `/tags/name`: the newest public posts with a hashtag, where strangers may read public timelines. */
export const layer = Layer.unwrap(make)
