import { Effect, Layer, Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import type { AccountId } from "../../services/database/Ids.ts"
import { type OffsetPage, offsetPageOf } from "../../services/database/Paging.ts"
import { ServerConfig } from "../../services/instance/ServerConfig.ts"
import { RecordNotFound } from "../../services/runtime/Errors.ts"
import { traced } from "../../services/runtime/Traced.ts"
import { type Publisher, TrendCandidates } from "../../services/trends/TrendCandidates.ts"
import { TrendReviews, type TrendSubject } from "../../services/trends/TrendReviews.ts"
import { Access } from "../guard/Access.ts"
import { Caller } from "../guard/Caller.ts"
import { group } from "../guard/Group.ts"
import { Guard } from "../guard/Guard.ts"
import * as Reply from "../guard/Reply.ts"
import { LinkViews } from "../render/LinkViews.ts"
import * as Lists from "../render/ListResponses.ts"
import * as Paging from "../render/PageLinks.ts"
import { statusRows, trendRows } from "../render/PageSizes.ts"
import { StatusViews } from "../render/StatusViews.ts"
import { AdminTagViews } from "../staff/render/AdminTagViews.ts"
import { AdminPublisher, AdminTag, AdminTrendingLink, AdminTrendingStatus } from "../staff/wire/AdminTrend.ts"
import { id, timestampOrNull } from "../wire/Common.ts"
import { extend, json, type JsonOf } from "../wire/Keys.ts"
import { pageOf, PageQuery } from "../wire/PageQuery.ts"
import { IdPath, TrendsQuery } from "../wire/ReadRequests.ts"

const path = "/api/v1/admin/trends"
const publisherRows = 100
const reading = Access.staff("manageTaxonomies", "admin:read")
const writing = Access.staff("manageTaxonomies", "admin:write")
const query = TrendsQuery
const ofTag = { params: IdPath, success: AdminTag }
const ofStatus = { params: IdPath, success: AdminTrendingStatus }
const ofLink = { params: IdPath, success: AdminTrendingLink }
const ofPublisher = { params: IdPath, success: AdminPublisher }

export class AdminTrendsGroup extends HttpApiGroup.make("admin/trends")
  .add(
    HttpApiEndpoint.get("tags", "/tags", { query, success: Schema.Array(AdminTag) }).annotate(Access, reading),
    HttpApiEndpoint.post("approveTag", "/tags/:id/approve", ofTag).annotate(Access, writing),
    HttpApiEndpoint.post("rejectTag", "/tags/:id/reject", ofTag).annotate(Access, writing),
    HttpApiEndpoint.get("statuses", "/statuses", { query, success: Schema.Array(AdminTrendingStatus) })
      .annotate(Access, reading),
    HttpApiEndpoint.post("approveStatus", "/statuses/:id/approve", ofStatus).annotate(Access, writing),
    HttpApiEndpoint.post("rejectStatus", "/statuses/:id/reject", ofStatus).annotate(Access, writing),
    HttpApiEndpoint.get("links", "/links", { query, success: Schema.Array(AdminTrendingLink) })
      .annotate(Access, reading),
    HttpApiEndpoint.post("approveLink", "/links/:id/approve", ofLink).annotate(Access, writing),
    HttpApiEndpoint.post("rejectLink", "/links/:id/reject", ofLink).annotate(Access, writing),
    HttpApiEndpoint.get("publishers", "/links/publishers", {
      query: PageQuery,
      success: Schema.Array(AdminPublisher)
    }).annotate(Access, reading),
    HttpApiEndpoint.post("approvePublisher", "/links/publishers/:id/approve", ofPublisher).annotate(Access, writing),
    HttpApiEndpoint.post("rejectPublisher", "/links/publishers/:id/reject", ofPublisher).annotate(Access, writing)
  )
  .prefix(path)
  .middleware(Guard)
{}

type Candidates = Effect.Success<ReturnType<TrendCandidates["Service"]["tags"]>>
interface About {
  readonly params: { readonly id: bigint }
}

const publisherJson = (one: Publisher) =>
  json<AdminPublisher>({
    id: id(one.id),
    domain: one.site,
    trendable: one.trendable,
    reviewedAt: timestampOrNull(one.reviewedAt),
    requestedReviewAt: timestampOrNull(one.requestedReviewAt),
    requiresReview: one.reviewedAt === null
  })

/** Trends and candidates for staff review (S-112, S-114, S-232). */
export const layer = group(
  AdminTrendsGroup,
  Effect.fn(function*(handlers) {
    const candidates = yield* TrendCandidates
    const links = yield* LinkViews
    const reviews = yield* TrendReviews
    const statuses = yield* StatusViews
    const tags = yield* AdminTagViews
    const { publicUrl } = yield* ServerConfig

    const statusesOf = Effect.fnUntraced(function*(viewer: AccountId, found: Candidates) {
      const views = yield* statuses.byId(viewer, found.map((one) => one.id))
      return found.flatMap(({ id, requiresReview }) => {
        const view = views.get(id)
        return view === undefined ? [] : [extend<AdminTrendingStatus>(view, { requiresReview })]
      })
    })
    const linksOf = Effect.fnUntraced(function*(viewer: AccountId, found: Candidates) {
      const views = yield* links.byId(viewer, found.map((one) => one.id))
      return found.flatMap((one) => {
        const view = views.get(one.id)
        const { requiresReview } = one
        return view === undefined ? [] : [extend<AdminTrendingLink>(view, { id: id(one.id), requiresReview })]
      })
    })
    const tagsOf = (_: AccountId, found: Candidates) => tags.render(found.map((one) => one.id))

    const list = <Wire>(
      kind: "links" | "statuses" | "tags",
      rows: number,
      show: (viewer: AccountId, found: Candidates) => Effect.Effect<ReadonlyArray<JsonOf<Wire>>>
    ) =>
      traced(`admin.trends.${kind}`)(function*({ query }: { readonly query: typeof TrendsQuery.Type }) {
        const stretch: OffsetPage = offsetPageOf(query, rows)
        const found = yield* candidates[kind](stretch)
        const items = yield* show(yield* Caller.account, found)
        return Reply.list(items, Paging.offsetLink(publicUrl, `${path}/${kind}`, stretch, found.length))
      })
    const decision = <Wire>(
      trendable: boolean,
      subject: (id: bigint) => TrendSubject,
      shown: (viewer: AccountId, id: bigint) => Effect.Effect<ReadonlyArray<JsonOf<Wire>>>
    ) =>
      traced("admin.trends.decision")(function*({ params }: About) {
        const by = yield* Caller.account
        yield* reviews.decide(by, subject(params.id), trendable)
        const [view] = yield* shown(by, params.id)
        return view === undefined ? yield* new RecordNotFound() : Reply.json(view)
      })
    const ofTag = (trendable: boolean) =>
      decision(trendable, (id) => ({ kind: "tag", id }), (_, id) => tags.render([id]))
    const ofStatus = (trendable: boolean) =>
      decision(
        trendable,
        (id) => ({ kind: "status", id }),
        (by, id) => Effect.flatMap(candidates.status(id), (found) => statusesOf(by, found))
      )
    const ofLink = (trendable: boolean) =>
      decision(
        trendable,
        (id) => ({ kind: "link", cardId: id }),
        (by, id) => Effect.flatMap(candidates.link(id), (found) => linksOf(by, found))
      )
    const ofPublisher = (trendable: boolean) =>
      decision(
        trendable,
        (id) => ({ kind: "site", id }),
        (_, id) => Effect.map(candidates.publisher(id), (found) => found.map(publisherJson))
      )

    return handlers.handleAll({
      tags: list("tags", trendRows, tagsOf),
      approveTag: ofTag(true),
      rejectTag: ofTag(false),
      statuses: list("statuses", statusRows, statusesOf),
      approveStatus: ofStatus(true),
      rejectStatus: ofStatus(false),
      links: list("links", trendRows, linksOf),
      approveLink: ofLink(true),
      rejectLink: ofLink(false),
      publishers: traced("admin.trends.publishers")(function*({ query }) {
        const page = pageOf(query, publisherRows)
        const rows = yield* candidates.publishers(page)
        return Lists.page({
          baseUrl: publicUrl,
          path: `${path}/links/publishers`,
          page,
          rows,
          cursor: (row) => row.id,
          items: rows.map(publisherJson)
        })
      }),
      approvePublisher: ofPublisher(true),
      rejectPublisher: ofPublisher(false)
    })
  })
).pipe(Layer.provide([AdminTagViews.layer, LinkViews.layer, StatusViews.layer, TrendCandidates.layer]))
