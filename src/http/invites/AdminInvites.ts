import { Effect, Layer, Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { ServerConfig } from "../../services/instance/ServerConfig.ts"
import { type Invite, inviteLink, Invites } from "../../services/invites/Invites.ts"
import { traced } from "../../services/runtime/Traced.ts"
import { Access } from "../guard/Access.ts"
import { Caller } from "../guard/Caller.ts"
import { group } from "../guard/Group.ts"
import { Guard } from "../guard/Guard.ts"
import * as Reply from "../guard/Reply.ts"
import { AccountViews } from "../render/AccountViews.ts"
import * as Lists from "../render/ListResponses.ts"
import { id, timestamp, timestampOrNull } from "../wire/Common.ts"
import { withMembers } from "../wire/Keys.ts"
import { pageOf, PageQuery } from "../wire/PageQuery.ts"
import { IdPath } from "../wire/ReadRequests.ts"
import { AdminInvite, InviteWrite } from "./wire/AdminInvite.ts"

const path = "/api/v1/admin/invites"
const inviteRows = 100
const writing = Access.staff("manageInvites", "admin:write")

export class AdminInvitesGroup extends HttpApiGroup.make("admin/invites")
  .add(
    HttpApiEndpoint.get("all", path, { query: PageQuery, success: Schema.Array(AdminInvite) })
      .annotate(Access, Access.staff("manageInvites", "admin:read")),
    HttpApiEndpoint.post("create", path, { payload: InviteWrite, success: AdminInvite }).annotate(Access, writing),
    HttpApiEndpoint.delete("end", `${path}/:id`, { params: IdPath, success: Schema.Struct({}) })
      .annotate(Access, writing)
  )
  .middleware(Guard)
{}

/** Invites for staff: create, list and revoke (S-017, S-235). */
export const layer = group(
  AdminInvitesGroup,
  Effect.fn(function*(handlers) {
    const accounts = yield* AccountViews
    const invites = yield* Invites
    const { publicUrl } = yield* ServerConfig

    const shown = Effect.fnUntraced(function*(all: ReadonlyArray<Invite>) {
      const ids = [...new Set(all.map(({ accountId }) => accountId))]
      const views = new Map((yield* accounts.render(ids)).map((view, at) => [ids[at], view]))
      return all.flatMap(({ accountId, ...invite }) => {
        const account = views.get(accountId)
        return account === undefined ? [] : [withMembers<AdminInvite, "account">({
          ...invite,
          id: id(invite.id),
          url: inviteLink(publicUrl, invite.code),
          expiresAt: timestampOrNull(invite.expiresAt),
          createdAt: timestamp(invite.createdAt)
        }, { account })]
      })
    })

    return handlers.handleAll({
      all: traced("admin.invites.all")(function*({ query }) {
        const page = pageOf(query, inviteRows)
        const rows = yield* invites.list(page)
        return Lists.page({
          baseUrl: publicUrl,
          path,
          page,
          rows,
          cursor: (row) => row.id,
          items: yield* shown(rows)
        })
      }),
      create: traced("admin.invites.create")(function*({ payload: { autofollow, expiresIn, maxUses } }) {
        const invite = yield* invites.create(yield* Caller.account, {
          maxUses: maxUses ?? null,
          expiresIn: expiresIn ?? null,
          autofollow: autofollow === true
        })
        const [view] = yield* shown([invite])
        return view === undefined ? yield* Effect.die("an inviter is there") : Reply.json(view)
      }),
      end: traced("admin.invites.end")(function*({ params }) {
        yield* invites.end(yield* Caller.account, params.id)
        return Reply.empty
      })
    })
  })
).pipe(Layer.provide(AccountViews.layer))
