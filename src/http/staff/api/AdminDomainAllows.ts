import { Effect, Layer } from "effect"
import { HttpApiGroup } from "effect/http-api"
import { type DomainAllow, DomainAllows } from "../../../services/federation/domains/DomainAllows.ts"
import { group } from "../../guard/Group.ts"
import { Guard } from "../../guard/Guard.ts"
import { timestamp } from "../../wire/Common.ts"
import { json } from "../../wire/Keys.ts"
import { AdminDomainAllow, DomainAllowWrite } from "../wire/AdminBlocks.ts"
import { staffEndpoints } from "./StaffEndpoints.ts"
import { staffTable } from "./StaffTable.ts"

const path = "/api/v1/admin/domain_allows"
const at = staffEndpoints({
  path,
  permission: "manageFederation",
  scope: "domain_allows",
  row: AdminDomainAllow,
  write: DomainAllowWrite
})

export class AdminDomainAllowsGroup extends HttpApiGroup.make("admin/domainAllows")
  .add(
    at.list,
    at.create,
    at.show,
    at.remove
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
      create: table.create((by, { confirmed, domain }: DomainAllowWrite) =>
        allows.allow(domain ?? "", { by, confirmed: confirmed === true })
      )
    })
  })
).pipe(Layer.provide(DomainAllows.layer))
