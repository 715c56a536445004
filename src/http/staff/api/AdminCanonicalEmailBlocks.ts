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
import { Access } from "../../guard/Access.ts"
import { group } from "../../guard/Group.ts"
import { Guard } from "../../guard/Guard.ts"
import * as Reply from "../../guard/Reply.ts"
import { json } from "../../wire/Keys.ts"
import { AdminCanonicalEmailBlock, CanonicalEmailBlockWrite, TestedEmail } from "../wire/AdminBlocks.ts"
import { staffEndpoints } from "./StaffEndpoints.ts"
import { staffTable } from "./StaffTable.ts"

const path = "/api/v1/admin/canonical_email_blocks"
const at = staffEndpoints({
  path,
  permission: "manageBlocks",
  scope: "canonical_email_blocks",
  row: AdminCanonicalEmailBlock,
  write: CanonicalEmailBlockWrite
})

export class AdminCanonicalEmailBlocksGroup extends HttpApiGroup.make("admin/canonicalEmailBlocks")
  .add(
    at.list,
    at.create,
    HttpApiEndpoint.post("test", `${path}/test`, {
      payload: TestedEmail,
      success: Schema.Array(AdminCanonicalEmailBlock)
    }).annotate(Access, at.reading),
    at.show,
    at.remove
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
      create: table.create(Effect.fnUntraced(function*(by, write: CanonicalEmailBlockWrite) {
        const email = write.email?.trim() ?? ""
        const digest = email === ""
          ? write.canonicalEmailHash?.trim().toLowerCase() ?? ""
          : canonicalEmailHash(yield* requireEmail(email))
        return yield* blocks.create(by, digest)
      })),
      test: traced("admin.canonicalEmailBlocks.test")(function*({ payload }) {
        const email = payload.email?.trim() ?? ""
        if (email === "") return yield* missingParameter("email")
        return Reply.list((yield* blocks.matching(yield* requireEmail(email))).map(shown))
      })
    })
  })
).pipe(Layer.provide(CanonicalEmailBlocks.layer))
