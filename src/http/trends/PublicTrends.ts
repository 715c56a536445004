import { Effect, Layer, Schema } from "effect"
import type { HttpServerRequest } from "effect/http"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import type { OffsetPage } from "../../services/database/Paging.ts"
import { offsetPageOf } from "../../services/database/Paging.ts"
import { ServerConfig } from "../../services/instance/ServerConfig.ts"
import { traced } from "../../services/runtime/Traced.ts"
import { Trends } from "../../services/trends/Trends.ts"
import { Access } from "../guard/Access.ts"
import { Caller } from "../guard/Caller.ts"
import { group } from "../guard/Group.ts"
import { Guard } from "../guard/Guard.ts"
import * as Reply from "../guard/Reply.ts"
import { deprecated } from "../render/Deprecation.ts"
import { LinkViews } from "../render/LinkViews.ts"
import * as Lists from "../render/ListResponses.ts"
import * as Paging from "../render/PageLinks.ts"
import { statusRows, trendRows } from "../render/PageSizes.ts"
import { StatusViews } from "../render/StatusViews.ts"
import { TagViews } from "../render/TagViews.ts"
import type { JsonOf } from "../wire/Keys.ts"
import { TrendingLink } from "../wire/PreviewCard.ts"
import { TrendsQuery } from "../wire/ReadRequests.ts"
import { Status } from "../wire/Status.ts"
import { Tag } from "../wire/Tag.ts"

const reading = Access.public()

export class TrendsGroup extends HttpApiGroup.make("trends")
  .add(
    HttpApiEndpoint.get("tags", "/tags", { query: TrendsQuery, success: Schema.Array(Tag) }).annotate(Access, reading),
    // Older name of the same endpoint.
    HttpApiEndpoint.get("trends", "/", { query: TrendsQuery, success: Schema.Array(Tag) }).annotate(Access, reading),
    HttpApiEndpoint.get("statuses", "/statuses", { query: TrendsQuery, success: Schema.Array(Status) })
      .annotate(Access, reading),
    HttpApiEndpoint.get("links", "/links", { query: TrendsQuery, success: Schema.Array(TrendingLink) })
      .annotate(Access, reading)
  )
  .prefix("/api/v1/trends")
  .middleware(Guard)
{}

/** Trending hashtags, statuses and links that staff allow (S-112, S-158, S-306). */
export const layer = group(
  TrendsGroup,
  Effect.fn(function*(handlers) {
    const links = yield* LinkViews
    const statuses = yield* StatusViews
    const tags = yield* TagViews
    const trends = yield* Trends
    const { publicUrl } = yield* ServerConfig

    type Request = HttpServerRequest.HttpServerRequest
    const wishesOf = ({ lang }: typeof TrendsQuery.Type, { headers }: Request) => ({
      lang,
      header: headers["accept-language"]
    })
    const page = <Wire>(
      name: string,
      request: Request,
      stretch: OffsetPage,
      rows: number,
      items: ReadonlyArray<JsonOf<Wire>>
    ) =>
      Reply.list(
        items,
        Paging.offsetLink(publicUrl, `/api/v1/trends${name}`, stretch, rows, Lists.keptOne(request.url, "lang"))
      )

    const ofTags = (name: string) =>
      traced("trends.tags")(function*(
        { query, request }: { readonly query: typeof TrendsQuery.Type; readonly request: Request }
      ) {
        const stretch = offsetPageOf(query, trendRows)
        const ids = yield* trends.tags(stretch)
        return page(name, request, stretch, ids.length, yield* tags.render(yield* Caller.viewer, ids))
      })

    return handlers.handleAll({
      tags: ofTags("/tags"),
      trends: (asked) => Effect.map(ofTags("")(asked), Reply.withHeaders(deprecated("2022-03-30"))),
      statuses: traced("trends.statuses")(function*({ query, request }) {
        const viewer = yield* Caller.viewer
        const stretch = offsetPageOf(query, statusRows)
        const ids = yield* trends.statuses(viewer, wishesOf(query, request), stretch)
        const items = yield* statuses.render(viewer, ids, "permitted", "public")
        return page("/statuses", request, stretch, ids.length, items)
      }),
      links: traced("trends.links")(function*({ query, request }) {
        const viewer = yield* Caller.viewer
        const stretch = offsetPageOf(query, trendRows)
        const ids = yield* trends.links(viewer, wishesOf(query, request), stretch)
        return page("/links", request, stretch, ids.length, yield* links.render(viewer, ids))
      })
    })
  })
).pipe(Layer.provide([LinkViews.layer, StatusViews.layer, TagViews.layer]))
