import { Effect, Layer, Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { type DomainAllow, DomainAllows } from "../../../services/federation/domains/DomainAllows.ts"
import { traced } from "../../../services/runtime/Traced.ts"
import { group } from "../../Group.ts"
import { Access } from "../../guard/Access.ts"
import { Caller } from "../../guard/Caller.ts"
import { Guard } from "../../guard/Guard.ts"
import * as Reply from "../../guard/Reply.ts"
import { timestamp } from "../../wire/Common.ts"
import { json } from "../../wire/Keys.ts"
import { PageQuery } from "../../wire/PageQuery.ts"
import { IdPath } from "../../wire/ReadRequests.ts"
import { AdminDomainAllow, DomainAllowWrite } from "../wire/AdminBlocks.ts"
import { staffTable } from "./StaffTable.ts"

const reading = Access.staff("manageFederation", "admin:read", "admin:read:domain_allows")
const writing = Access.staff("manageFederation", "admin:write", "admin:write:domain_allows")
const path = "/api/v1/admin/domain_allows"

export class AdminDomainAllowsGroup extends HttpApiGroup.make("admin/domainAllows")
  .add(
    HttpApiEndpoint.get("list", path, { query: PageQuery, success: Schema.Array(AdminDomainAllow) })
      .annotate(Access, reading),
    HttpApiEndpoint.post("create", path, { payload: DomainAllowWrite, success: AdminDomainAllow })
      .annotate(Access, writing),
    HttpApiEndpoint.get("show", `${path}/:id`, { params: IdPath, success: AdminDomainAllow }).annotate(Access, reading),
    HttpApiEndpoint.delete("remove", `${path}/:id`, { params: IdPath, success: Schema.Struct({}) })
      .annotate(Access, writing)
  )
  .middleware(Guard)
{}

const shown = ({ createdAt, domain, id }: DomainAllow) =>
  json<AdminDomainAllow>({ id: String(id), domain, createdAt: timestamp(createdAt) })

/** Allowed servers in limited federation mode (S-170, S-171, S-275). */
export const layer = group(
  AdminDomainAllowsGroup,
  Effect.fn(function*(handlers) {
    const allows = yield* DomainAllows
    const table = yield* staffTable({
      name: "domainAllows",
      path,
      table: { ...allows, remove: (by, id) => allows.remove(id, by) },
      shown: (rows) => Effect.succeed(rows.map(shown))
    })
    return handlers.handleAll({
      ...table.handlers,
      create: traced("admin.domainAllows.create")(function*({ payload }) {
        const by = yield* Caller.account
        return Reply.json(
          shown(yield* allows.allow(payload.domain ?? "", { by, confirmed: payload.confirmed === true }))
        )
      })
    })
  })
).pipe(Layer.provide(DomainAllows.layer))
