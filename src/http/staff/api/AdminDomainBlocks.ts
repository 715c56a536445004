import { Effect, Layer, Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { hash } from "node:crypto"
import {
  type DomainBlockChange,
  type DomainBlockRecord,
  DomainBlocks
} from "../../../services/federation/domains/DomainBlocks.ts"
import { isSeverity } from "../../../services/federation/domains/DomainPolicy.ts"
import { Unprocessable, validationFailed } from "../../../services/runtime/Errors.ts"
import { traced } from "../../../services/runtime/Traced.ts"
import { group } from "../../Group.ts"
import { Access } from "../../guard/Access.ts"
import { Caller } from "../../guard/Caller.ts"
import { Guard } from "../../guard/Guard.ts"
import * as Reply from "../../guard/Reply.ts"
import { timestamp } from "../../wire/Common.ts"
import { json, type Values } from "../../wire/Keys.ts"
import { PageQuery } from "../../wire/PageQuery.ts"
import { IdPath } from "../../wire/ReadRequests.ts"
import { AdminDomainBlock, DomainBlockUpdate, DomainBlockWrite, type ExistingDomainBlock } from "../wire/AdminBlocks.ts"
import { staffTable } from "./StaffTable.ts"

const reading = Access.staff("manageFederation", "admin:read", "admin:read:domain_blocks")
const writing = Access.staff("manageFederation", "admin:write", "admin:write:domain_blocks")
const path = "/api/v1/admin/domain_blocks"
const changing = { params: IdPath, payload: DomainBlockUpdate, success: AdminDomainBlock }

export class AdminDomainBlocksGroup extends HttpApiGroup.make("admin/domainBlocks")
  .add(
    HttpApiEndpoint.get("list", path, { query: PageQuery, success: Schema.Array(AdminDomainBlock) })
      .annotate(Access, reading),
    HttpApiEndpoint.post("create", path, { payload: DomainBlockWrite, success: AdminDomainBlock })
      .annotate(Access, writing),
    HttpApiEndpoint.get("show", `${path}/:id`, { params: IdPath, success: AdminDomainBlock }).annotate(Access, reading),
    HttpApiEndpoint.put("replace", `${path}/:id`, changing).annotate(Access, writing),
    HttpApiEndpoint.patch("change", `${path}/:id`, changing).annotate(Access, writing),
    HttpApiEndpoint.delete("remove", `${path}/:id`, { params: IdPath, success: Schema.Struct({}) })
      .annotate(Access, writing)
  )
  .middleware(Guard)
{}

const valueOf = (block: DomainBlockRecord): Values<AdminDomainBlock> => ({
  id: String(block.id),
  domain: block.domain,
  digest: hash("sha256", block.domain),
  createdAt: timestamp(block.createdAt),
  severity: block.severity,
  rejectMedia: block.rejectMedia,
  rejectReports: block.rejectReports,
  privateComment: block.privateComment,
  publicComment: block.publicComment,
  obfuscate: block.obfuscate
})
const shown = (block: DomainBlockRecord) => json<AdminDomainBlock>(valueOf(block))

const changeOf = ({ severity, ...said }: DomainBlockUpdate): Effect.Effect<DomainBlockChange, Unprocessable> =>
  severity === undefined || severity === null || severity === ""
    ? Effect.succeed(said)
    : isSeverity(severity)
    ? Effect.succeed({ ...said, severity })
    : Effect.fail(validationFailed("Severity is not included in the list"))

interface Changing {
  readonly params: { readonly id: bigint }
  readonly payload: DomainBlockUpdate
}

/** Domain blocks of this server (S-168, S-169, S-274, S-277). */
export const layer = group(
  AdminDomainBlocksGroup,
  Effect.fn(function*(handlers) {
    const blocks = yield* DomainBlocks
    const table = yield* staffTable({
      name: "domainBlocks",
      path,
      table: { ...blocks, remove: (by, id) => blocks.remove(id, by) },
      shown: (rows) => Effect.succeed(rows.map(shown))
    })
    const change = traced("admin.domainBlocks.change")(function*({ params, payload }: Changing) {
      return Reply.json(shown(yield* blocks.update(params.id, yield* changeOf(payload), yield* Caller.account)))
    })
    return handlers.handleAll({
      ...table.handlers,
      create: traced("admin.domainBlocks.create")(function*({ payload: { confirmed, domain, ...said } }) {
        const by = yield* Caller.account
        return yield* blocks.create(domain ?? "", { ...yield* changeOf(said), confirmed }, by).pipe(
          Effect.map((made) => Reply.json(shown(made))),
          Effect.catchTag("DomainBlockConflict", ({ existing }) =>
            Effect.succeed(Reply.refusal(
              json<ExistingDomainBlock>({
                error: new Unprocessable({ text: `You have already imposed stricter limits on ${existing.domain}.` })
                  .message,
                existingDomainBlock: valueOf(existing)
              }),
              { status: 422 }
            )))
        )
      }),
      replace: change,
      change
    })
  })
).pipe(Layer.provide(DomainBlocks.layer))
