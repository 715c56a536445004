import { Effect, Layer, Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { requireEmail } from "../../../services/identity/RegistrationRules.ts"
import {
  type CanonicalEmailBlock,
  CanonicalEmailBlocks,
  canonicalEmailHash
} from "../../../services/moderation/CanonicalEmailBlocks.ts"
import { missingParameter } from "../../../services/runtime/Errors.ts"
import { traced } from "../../../services/runtime/Traced.ts"
import { group } from "../../Group.ts"
import { Access } from "../../guard/Access.ts"
import { Caller } from "../../guard/Caller.ts"
import { Guard } from "../../guard/Guard.ts"
import * as Reply from "../../guard/Reply.ts"
import { json } from "../../wire/Keys.ts"
import { PageQuery } from "../../wire/PageQuery.ts"
import { IdPath } from "../../wire/ReadRequests.ts"
import { AdminCanonicalEmailBlock, CanonicalEmailBlockWrite, TestedEmail } from "../wire/AdminBlocks.ts"
import { staffTable } from "./StaffTable.ts"

const reading = Access.staff("manageBlocks", "admin:read", "admin:read:canonical_email_blocks")
const writing = Access.staff("manageBlocks", "admin:write", "admin:write:canonical_email_blocks")
const path = "/api/v1/admin/canonical_email_blocks"

export class AdminCanonicalEmailBlocksGroup extends HttpApiGroup.make("admin/canonicalEmailBlocks")
  .add(
    HttpApiEndpoint.get("list", path, { query: PageQuery, success: Schema.Array(AdminCanonicalEmailBlock) })
      .annotate(Access, reading),
    HttpApiEndpoint.post("create", path, { payload: CanonicalEmailBlockWrite, success: AdminCanonicalEmailBlock })
      .annotate(Access, writing),
    HttpApiEndpoint.post("test", `${path}/test`, {
      payload: TestedEmail,
      success: Schema.Array(AdminCanonicalEmailBlock)
    }).annotate(Access, reading),
    HttpApiEndpoint.get("show", `${path}/:id`, { params: IdPath, success: AdminCanonicalEmailBlock })
      .annotate(Access, reading),
    HttpApiEndpoint.delete("remove", `${path}/:id`, { params: IdPath, success: Schema.Struct({}) })
      .annotate(Access, writing)
  )
  .middleware(Guard)
{}

const shown = ({ canonicalEmailHash, id }: CanonicalEmailBlock) =>
  json<AdminCanonicalEmailBlock>({ id: String(id), canonicalEmailHash })

/** E-mail addresses that are blocked from sign-up in every spelling (S-172). */
export const layer = group(
  AdminCanonicalEmailBlocksGroup,
  Effect.fn(function*(handlers) {
    const blocks = yield* CanonicalEmailBlocks
    const table = yield* staffTable({
      name: "canonicalEmailBlocks",
      path,
      table: blocks,
      shown: (rows) => Effect.succeed(rows.map(shown))
    })
    return handlers.handleAll({
      ...table.handlers,
      create: traced("admin.canonicalEmailBlocks.create")(function*({ payload }) {
        const email = payload.email?.trim() ?? ""
        const digest = email === ""
          ? payload.canonicalEmailHash?.trim().toLowerCase() ?? ""
          : canonicalEmailHash(yield* requireEmail(email))
        return Reply.json(shown(yield* blocks.create(yield* Caller.account, digest)))
      }),
      test: traced("admin.canonicalEmailBlocks.test")(function*({ payload }) {
        const email = payload.email?.trim() ?? ""
        if (email === "") return yield* missingParameter("email")
        return Reply.list((yield* blocks.matching(yield* requireEmail(email))).map(shown))
      })
    })
  })
).pipe(Layer.provide(CanonicalEmailBlocks.layer))
