import { Effect, Layer, Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { IdFromString } from "../../../services/database/Ids.ts"
import { ServerConfig } from "../../../services/instance/ServerConfig.ts"
import {
  type ModerationNote as NoteRecord,
  ModerationNotes,
  type NoteTarget
} from "../../../services/moderation/ModerationNotes.ts"
import { traced } from "../../../services/runtime/Traced.ts"
import { Access } from "../../guard/Access.ts"
import { Caller } from "../../guard/Caller.ts"
import { group } from "../../guard/Group.ts"
import { Guard } from "../../guard/Guard.ts"
import * as Reply from "../../guard/Reply.ts"
import { AccountViews } from "../../render/AccountViews.ts"
import * as Lists from "../../render/ListResponses.ts"
import { adminRows } from "../../render/PageSizes.ts"
import { id as idText, timestamp } from "../../wire/Common.ts"
import { json } from "../../wire/Keys.ts"
import { pageOf, type PageParameters, PageQuery } from "../../wire/PageQuery.ts"
import { ModerationNote, noteAuthor, NoteWrite } from "../wire/Notes.ts"

const paths = { account: "/api/v1/admin/accounts", report: "/api/v1/admin/reports" } as const
const target = { targetId: IdFromString }
const one = { ...target, id: IdFromString }
const list = { params: target, query: PageQuery, success: Schema.Array(ModerationNote) }
const writing = { params: target, payload: NoteWrite, success: ModerationNote }
const removing = { params: one, success: Schema.Struct({}) }
const access = {
  account: {
    read: Access.staff(["manageUsers", "manageReports"], "admin:read", "admin:read:accounts"),
    write: Access.staff(["manageUsers", "manageReports"], "admin:write", "admin:write:accounts")
  },
  report: {
    read: Access.staff("manageReports", "admin:read", "admin:read:reports"),
    write: Access.staff("manageReports", "admin:write", "admin:write:reports")
  }
}

export class ModerationNotesGroup extends HttpApiGroup.make("admin/moderationNotes")
  .add(
    HttpApiEndpoint.get("ofAccount", `${paths.account}/:targetId/notes`, list).annotate(Access, access.account.read),
    HttpApiEndpoint.post("onAccount", `${paths.account}/:targetId/notes`, writing)
      .annotate(Access, access.account.write),
    HttpApiEndpoint.get("showOfAccount", `${paths.account}/:targetId/notes/:id`, {
      params: one,
      success: ModerationNote
    })
      .annotate(Access, access.account.read),
    HttpApiEndpoint.delete("removeOfAccount", `${paths.account}/:targetId/notes/:id`, removing)
      .annotate(Access, access.account.write),
    HttpApiEndpoint.get("ofReport", `${paths.report}/:targetId/notes`, list).annotate(Access, access.report.read),
    HttpApiEndpoint.post("onReport", `${paths.report}/:targetId/notes`, writing).annotate(Access, access.report.write),
    HttpApiEndpoint.get("showOfReport", `${paths.report}/:targetId/notes/:id`, { params: one, success: ModerationNote })
      .annotate(Access, access.report.read),
    HttpApiEndpoint.delete("removeOfReport", `${paths.report}/:targetId/notes/:id`, removing)
      .annotate(Access, access.report.write)
  )
  .middleware(Guard)
{}

type Target = NoteTarget["type"]
interface OnTarget {
  readonly params: { readonly targetId: bigint }
}
interface OnNote {
  readonly params: { readonly targetId: bigint; readonly id: bigint }
}

/** Moderators' notes on accounts and reports, beyond Mastodon's API; their JSON follows Mastodon's draft. */
export const layer = group(
  ModerationNotesGroup,
  Effect.fn(function*(handlers) {
    const notes = yield* ModerationNotes
    const accounts = yield* AccountViews
    const { publicUrl } = yield* ServerConfig

    const render = Effect.fnUntraced(function*(target: NoteTarget, records: ReadonlyArray<NoteRecord>) {
      const people = yield* accounts.byId(records.flatMap(({ accountId }) => accountId ?? []))
      const url = `${publicUrl}/admin/${target.type}s/${target.id}`
      return records.map(({ accountId, content, createdAt, id }) =>
        json<ModerationNote>({
          id: idText(id),
          content,
          createdAt: timestamp(createdAt),
          target: { type: target.type, id: idText(target.id), url },
          author: noteAuthor(people.get(accountId ?? -1n))
        })
      )
    })
    const shown = Effect.fnUntraced(function*(target: NoteTarget, id: bigint) {
      const [text] = yield* render(target, [yield* notes.find(target, id)])
      return text === undefined ? yield* Effect.die(`note ${id} is there and is not shown`) : Reply.json(text)
    })
    const all = (type: Target) =>
      Effect.fnUntraced(function*({ params, query }: OnTarget & { readonly query: PageParameters }) {
        const target = { type, id: params.targetId }
        const page = pageOf(query, adminRows)
        const rows = yield* notes.page(target, page)
        return Lists.page({
          baseUrl: publicUrl,
          path: `${paths[type]}/${target.id}/notes`,
          page,
          rows,
          cursor: ({ id }) => id,
          items: yield* render(target, rows)
        })
      })
    const create = (type: Target) =>
      Effect.fnUntraced(function*({ params, payload }: OnTarget & { readonly payload: typeof NoteWrite.Type }) {
        const target = { type, id: params.targetId }
        return yield* shown(target, yield* notes.create(yield* Caller.account, target, payload.content ?? ""))
      })
    const show = (type: Target) => ({ params }: OnNote) => shown({ type, id: params.targetId }, params.id)
    const remove = (type: Target) =>
      Effect.fnUntraced(function*({ params }: OnNote) {
        yield* notes.remove(yield* Caller.account, { type, id: params.targetId }, params.id)
        return Reply.empty
      })

    return handlers.handleAll({
      ofAccount: traced("admin.moderationNotes.ofAccount")(all("account")),
      onAccount: traced("admin.moderationNotes.onAccount")(create("account")),
      showOfAccount: traced("admin.moderationNotes.showOfAccount")(show("account")),
      removeOfAccount: traced("admin.moderationNotes.removeOfAccount")(remove("account")),
      ofReport: traced("admin.moderationNotes.ofReport")(all("report")),
      onReport: traced("admin.moderationNotes.onReport")(create("report")),
      showOfReport: traced("admin.moderationNotes.showOfReport")(show("report")),
      removeOfReport: traced("admin.moderationNotes.removeOfReport")(remove("report"))
    })
  })
).pipe(Layer.provide([AccountViews.layer, ModerationNotes.layer]))
