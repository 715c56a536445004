import { Effect, Layer } from "effect"
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
import { Access } from "../../guard/Access.ts"
import { Caller } from "../../guard/Caller.ts"
import { group } from "../../guard/Group.ts"
import { Guard } from "../../guard/Guard.ts"
import * as Reply from "../../guard/Reply.ts"
import { timestamp } from "../../wire/Common.ts"
import { json, type Values } from "../../wire/Keys.ts"
import { AdminDomainBlock, DomainBlockUpdate, DomainBlockWrite, type ExistingDomainBlock } from "../wire/AdminBlocks.ts"
import { staffEndpoints } from "./StaffEndpoints.ts"
import { staffTable } from "./StaffTable.ts"

const path = "/api/v1/admin/domain_blocks"
const at = staffEndpoints({
  path,
  permission: "manageFederation",
  scope: "domain_blocks",
  row: AdminDomainBlock,
  write: DomainBlockUpdate
})

export class AdminDomainBlocksGroup extends HttpApiGroup.make("admin/domainBlocks")
  .add(
    at.list,
    HttpApiEndpoint.post("create", path, { payload: DomainBlockWrite, success: AdminDomainBlock })
      .annotate(Access, at.writing),
    at.show,
    at.replace,
    at.change,
    at.remove
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

const changeOf = ({ severity, ...fields }: DomainBlockUpdate): Effect.Effect<DomainBlockChange, Unprocessable> =>
  severity === undefined || severity === null || severity === ""
    ? Effect.succeed(fields)
    : isSeverity(severity)
    ? Effect.succeed({ ...fields, severity })
    : Effect.fail(validationFailed("Severity is not included in the list"))

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
    return handlers.handleAll({
      ...table.handlers,
      create: traced("admin.domainBlocks.create")(function*({ payload: { confirmed, domain, ...fields } }) {
        const by = yield* Caller.account
        return yield* blocks.create(domain ?? "", { ...yield* changeOf(fields), confirmed }, by).pipe(
          Effect.map((block) => Reply.json(shown(block))),
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
      ...table.changes((by, id, write: DomainBlockUpdate) =>
        Effect.flatMap(changeOf(write), (change) => blocks.update(id, change, by))
      )
    })
  })
).pipe(Layer.provide(DomainBlocks.layer))
