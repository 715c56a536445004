import { Effect, Layer, Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { linkOf } from "../../services/cards/StatusLinks.ts"
import type { Page } from "../../services/database/Paging.ts"
import { TimelineAccess } from "../../services/feeds/TimelineAccess.ts"
import { type Selection, Timelines } from "../../services/feeds/Timelines.ts"
import { ServerConfig } from "../../services/instance/ServerConfig.ts"
import { traced } from "../../services/runtime/Traced.ts"
import { Trends } from "../../services/trends/Trends.ts"
import type { Viewer } from "../../services/visibility/Viewer.ts"
import { Access } from "../guard/Access.ts"
import { Caller } from "../guard/Caller.ts"
import { group } from "../guard/Group.ts"
import { Guard } from "../guard/Guard.ts"
import * as Lists from "../render/ListResponses.ts"
import { statusRows } from "../render/PageSizes.ts"
import { StatusViews } from "../render/StatusViews.ts"
import * as TimelineViews from "../render/TimelineViews.ts"
import { pageOf } from "../wire/PageQuery.ts"
import {
  homeFilters,
  HomeQuery,
  linkFilters,
  LinkQuery,
  publicFilters,
  PublicQuery,
  tagFilters,
  TagQuery
} from "../wire/ReadRequests.ts"
import { Status } from "../wire/Status.ts"

const success = Schema.Array(Status)
const reading = Access.public("read", "read:statuses")

export class TimelinesGroup extends HttpApiGroup.make("timelines")
  .add(
    HttpApiEndpoint.get("home", "/home", { query: HomeQuery, success })
      .annotate(Access, Access.user("read", "read:statuses")),
    HttpApiEndpoint.get("public", "/public", { query: PublicQuery, success }).annotate(Access, reading),
    HttpApiEndpoint.get("tag", "/tag/:hashtag", { params: { hashtag: Schema.String }, query: TagQuery, success })
      .annotate(Access, reading),
    HttpApiEndpoint.get("link", "/link", { query: LinkQuery, success }).annotate(Access, reading)
  )
  .prefix("/api/v1/timelines")
  .middleware(Guard)
{}

/** Home, public, hashtag and link timelines (S-142, S-143, S-204, S-249). */
export const layer = group(
  TimelinesGroup,
  Effect.fn(function*(handlers) {
    const timelines = yield* Timelines
    const { everybody, home } = yield* TimelineViews.make
    const trends = yield* Trends
    const access = yield* TimelineAccess
    const config = yield* ServerConfig
    const { publicUrl } = config

    const shown = Effect.fnUntraced(function*(
      viewer: Viewer,
      name: string,
      page: Page,
      read: (page: Page) => Effect.Effect<ReadonlyArray<bigint>>,
      keep: ReturnType<typeof Lists.linkParameters>
    ) {
      const { items, read: rows } = yield* everybody(viewer, page, read)
      return Lists.page({
        baseUrl: publicUrl,
        path: `/api/v1/timelines/${name}`,
        page,
        rows,
        cursor: (id) => id,
        items,
        keep,
        always: true
      })
    })
    const nothing = () => Effect.succeed<ReadonlyArray<bigint>>([])

    return handlers.handleAll({
      home: traced("timelines.home")(function*({ query, request }) {
        const viewer = yield* Caller.account
        const page = pageOf(query, statusRows)
        const exclusions = { replies: query.excludeReplies === true, reblogs: query.excludeReblogs === true }
        const { items, read, regenerating } = yield* home(viewer, exclusions, page)
        return Lists.page({
          baseUrl: publicUrl,
          path: "/api/v1/timelines/home",
          page,
          rows: read,
          cursor: (id) => id,
          items,
          keep: Lists.linkParameters(request.url, homeFilters),
          always: true,
          status: regenerating ? 206 : 200
        })
      }),
      public: traced("timelines.public")(function*({ query, request }) {
        const viewer = yield* Caller.viewer
        const selection = yield* access.narrow(viewer, "liveFeeds", selectionOf(query))
        const page = pageOf(query, statusRows)
        const read = selection === undefined
          ? nothing
          : (page: Page) => timelines.publicTimeline(viewer, selection, page)
        return yield* shown(viewer, "public", page, read, Lists.linkParameters(request.url, publicFilters))
      }),
      tag: traced("timelines.tag")(function*({ params, query, request }) {
        const viewer = yield* Caller.viewer
        const selection = yield* access.narrow(viewer, "hashtagFeeds", {
          ...selectionOf(query),
          name: params.hashtag,
          any: query.any ?? [],
          all: query.all ?? [],
          none: query.none ?? []
        })
        const page = pageOf(query, statusRows)
        const read = selection === undefined ? nothing : (page: Page) => timelines.tagged(viewer, selection, page)
        const name = `tag/${encodeURIComponent(params.hashtag)}`
        return yield* shown(viewer, name, page, read, Lists.linkParameters(request.url, tagFilters))
      }),
      link: traced("timelines.link")(function*({ query, request }) {
        const viewer = yield* Caller.viewer
        const selection = yield* access.narrow(viewer, "hashtagFeeds", selectionOf({}))
        // A link that does not trend has no timeline, even if posts contain it.
        const card = yield* trends.link(linkOf(config, query.url ?? "")?.pageKey ?? "")
        const read = selection === undefined
          ? nothing
          : (page: Page) => timelines.linked(viewer, card, selection, page)
        return yield* shown(
          viewer,
          "link",
          pageOf(query, statusRows),
          read,
          Lists.linkParameters(request.url, linkFilters)
        )
      })
    })
  })
).pipe(Layer.provide(StatusViews.layer))

const selectionOf = (
  query: { readonly [Key in keyof Selection]?: boolean | undefined }
): Selection => ({
  local: query.local === true,
  remote: query.remote === true,
  onlyMedia: query.onlyMedia === true
})
