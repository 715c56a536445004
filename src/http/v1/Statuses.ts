import { Effect, Layer, Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { Unprocessable } from "../../services/Errors.ts"
import { Threads } from "../../services/federation/fetching/Threads.ts"
import type { StatusId } from "../../services/Ids.ts"
import { ServerConfig } from "../../services/instance/ServerConfig.ts"
import type { Page } from "../../services/Paging.ts"
import { History } from "../../services/statuses/History.ts"
import { Interactions, type Listed } from "../../services/statuses/Interactions.ts"
import { Statuses } from "../../services/statuses/Statuses.ts"
import { traced } from "../../services/Traced.ts"
import type { Viewer } from "../../services/Viewer.ts"
import { group } from "../Group.ts"
import { Access } from "../guard/Access.ts"
import { Caller } from "../guard/Caller.ts"
import { Guard } from "../guard/Guard.ts"
import * as Reply from "../guard/Reply.ts"
import { AccountViews } from "../render/AccountViews.ts"
import { ContextViews } from "../render/ContextViews.ts"
import * as Lists from "../render/Lists.ts"
import { accountRows } from "../render/Pages.ts"
import { RevisionViews } from "../render/RevisionViews.ts"
import { StatusViews } from "../render/StatusViews.ts"
import { Account } from "../wire/Account.ts"
import { json } from "../wire/Keys.ts"
import { pageOf, PageQuery } from "../wire/PageQuery.ts"
import { Ids, StatusIdPath } from "../wire/ReadRequests.ts"
import { Context, Status, StatusEdit, StatusSource } from "../wire/Status.ts"
import { asyncRefresh } from "./AsyncRefreshes.ts"

/** Statuses that one request may name. */
const statusBatchMax = 20

const reading = Access.public("read", "read:statuses")
const people = { params: StatusIdPath, query: PageQuery, success: Schema.Array(Account) }

export class StatusesGroup extends HttpApiGroup.make("statuses")
  .add(
    HttpApiEndpoint.get("batch", "/", { query: Ids, success: Schema.Array(Status) }).annotate(Access, reading),
    HttpApiEndpoint.get("show", "/:id", { params: StatusIdPath, success: Status }).annotate(Access, reading),
    HttpApiEndpoint.get("context", "/:id/context", { params: StatusIdPath, success: Context }).annotate(
      Access,
      reading
    ),
    HttpApiEndpoint.get("history", "/:id/history", { params: StatusIdPath, success: Schema.Array(StatusEdit) })
      .annotate(Access, reading),
    HttpApiEndpoint.get("source", "/:id/source", { params: StatusIdPath, success: StatusSource })
      .annotate(Access, Access.appOrUser("read", "read:statuses")),
    HttpApiEndpoint.get("favouritedBy", "/:id/favourited_by", people)
      .annotate(Access, Access.public("read", "read:accounts")),
    HttpApiEndpoint.get("rebloggedBy", "/:id/reblogged_by", people)
      .annotate(Access, Access.public("read", "read:accounts"))
  )
  .prefix("/api/v1/statuses")
  .middleware(Guard)
{}

type Read = (viewer: Viewer, statusId: bigint, page: Page) => Effect.Effect<ReadonlyArray<Listed>>

/** Statuses and what is known of them (S-144, S-196). What a caller may not see is not there (row 57). */
export const layer = group(
  StatusesGroup,
  Effect.fn(function*(handlers) {
    const statuses = yield* Statuses
    const contexts = yield* ContextViews
    const history = yield* History
    const interactions = yield* Interactions
    const views = yield* StatusViews
    const revisions = yield* RevisionViews
    const threads = yield* Threads
    const accounts = yield* AccountViews
    const { publicUrl } = yield* ServerConfig

    const interested = (name: string, read: Read) =>
      traced(`statuses.${name}`)(function*(
        { params, query }: {
          readonly params: { readonly id: StatusId }
          readonly query: Parameters<typeof pageOf>[0]
        }
      ) {
        const viewer = yield* Caller.viewer
        const { id } = yield* statuses.find(viewer, params.id)
        const page = pageOf(query, accountRows)
        const rows = yield* read(viewer, id, page)
        return Lists.page({
          baseUrl: publicUrl,
          path: `/api/v1/statuses/${params.id}/${name}`,
          page,
          rows,
          cursor: ({ cursor }) => cursor,
          items: yield* accounts.render(rows.map(({ accountId }) => accountId)),
          back: "since_id"
        })
      })

    return handlers.handleAll({
      batch: traced("statuses.batch")(function*({ query }) {
        const ids = Lists.idsOf(query.id)
        if (ids.length > statusBatchMax) return yield* new Unprocessable({ text: "Mastodon::ValidationError" })
        return Reply.list(yield* views.renderNamed(yield* Caller.viewer, ids, "authors"))
      }),
      show: traced("statuses.show")(function*({ params }) {
        return Reply.json(yield* views.renderOne(yield* Caller.viewer, params.id))
      }),
      context: traced("statuses.context")(function*({ params }) {
        const viewer = yield* Caller.viewer
        const status = yield* statuses.find(viewer, params.id)
        const fetching = viewer === undefined ? undefined : yield* threads.read(status.id)
        const shown = Reply.json(yield* contexts.render(viewer, status))
        return fetching?.running === true
          ? Reply.withHeaders(shown, asyncRefresh("thread", status.id, fetching.found))
          : shown
      }),
      history: traced("statuses.history")(function*({ params }) {
        const { id } = yield* statuses.find(yield* Caller.viewer, params.id)
        return Reply.list(yield* revisions.render(yield* history.of(id)))
      }),
      source: traced("statuses.source")(function*({ params }) {
        const { id, spoilerText, text } = yield* statuses.source(yield* Caller.viewer, params.id)
        return Reply.json(json<StatusSource>({ id: String(id), text, spoilerText }))
      }),
      favouritedBy: interested("favourited_by", interactions.favouritedBy),
      rebloggedBy: interested("reblogged_by", interactions.rebloggedBy)
    })
  })
).pipe(Layer.provide(ContextViews.layer))
