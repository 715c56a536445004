import { Effect } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { localPost } from "../../services/discovery/LocalPosts.ts"
import { parse } from "../../services/discovery/LocalUrls.ts"
import { escape } from "../../services/html/Compose.ts"
import { Accounts } from "../../services/identity/Accounts.ts"
import { ServerConfig } from "../../services/instance/ServerConfig.ts"
import * as Urls from "../../services/instance/Urls.ts"
import { RecordNotFound } from "../../services/runtime/Errors.ts"
import { traced } from "../../services/runtime/Traced.ts"
import { Statuses } from "../../services/statuses/Statuses.ts"
import { Access } from "../guard/Access.ts"
import { group } from "../guard/Group.ts"
import { Guard } from "../guard/Guard.ts"
import * as Reply from "../guard/Reply.ts"
import { json } from "../wire/Keys.ts"
import { OEmbed, OEmbedQuery } from "../wire/OEmbed.ts"

/** Default edges of an embedded frame and their maximum, in pixels. */
const usualWidth = 400
const usualHeight = 400
const edgePixelsMax = 4_096
/** Rights of the sandboxed frame: its links open pages of their own. */
const rights = "allow-popups allow-popups-to-escape-sandbox"
/** Time that other sites may cache the response, in seconds. */
const cacheSeconds = 86_400

export class OEmbedsGroup extends HttpApiGroup.make("oEmbeds")
  .add(
    HttpApiEndpoint.get("show", "/api/oembed", { query: OEmbedQuery, success: OEmbed })
      .annotate(Access, Access.anyone)
  )
  .middleware(Guard)
{}

/** Returns the requested edge, capped at the maximum; undefined if it is absent or below 1. */
const pixels = (asked: number | undefined) =>
  asked === undefined || asked < 1 ? undefined : Math.min(asked, edgePixelsMax)

/** oEmbed for public local posts: a sandboxed frame that needs no script from other sites. */
export const layer = group(
  OEmbedsGroup,
  Effect.fn(function*(handlers) {
    const accounts = yield* Accounts
    const config = yield* ServerConfig
    const statuses = yield* Statuses

    return handlers.handleAll({
      show: traced("oEmbeds.show")(function*({ query }) {
        const named = parse(config, query.url ?? "")
        if (named?.kind !== "status") return yield* new RecordNotFound()
        const { record } = yield* localPost(statuses, named.name, named.id)
        const [author] = yield* accounts.load([record.accountId])
        if (record.reblogOfId !== null || author === undefined) return yield* new RecordNotFound()
        const width = pixels(query.maxwidth) ?? usualWidth
        const height = pixels(query.maxheight) ?? null
        const frame =
          `<iframe class="mastodon-embed" src="${
            escape(Urls.embedPage(config, record.username, record.id))
          }" width="${width}" height="${
            height ?? usualHeight
          }" style="max-width: 100%; border: 0" sandbox="${rights}" ` +
          `allowfullscreen="allowfullscreen" loading="lazy"></iframe>`
        return Reply.json(json<OEmbed>({
          type: "rich",
          version: "1.0",
          authorName: author.displayName.trim() || author.username,
          authorUrl: Urls.profile(config, author.username),
          providerName: config.localDomain,
          providerUrl: `${config.publicUrl}/`,
          cacheAge: cacheSeconds,
          html: frame,
          width,
          height
        }))
      })
    })
  })
)
