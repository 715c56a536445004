import { Effect, Layer } from "effect"
import { HttpApiGroup } from "effect/http-api"
import { type UsernameBlock, UsernameBlocks } from "../../../services/moderation/UsernameBlocks.ts"
import { group } from "../../guard/Group.ts"
import { Guard } from "../../guard/Guard.ts"
import { timestamp } from "../../wire/Common.ts"
import { json } from "../../wire/Keys.ts"
import { AdminUsernameBlock, UsernameBlockWrite } from "../wire/AdminBlocks.ts"
import { staffEndpoints } from "./StaffEndpoints.ts"
import { staffTable } from "./StaffTable.ts"

const path = "/api/v1/admin/username_blocks"
const at = staffEndpoints({ path, permission: "manageBlocks", row: AdminUsernameBlock, write: UsernameBlockWrite })

export class AdminUsernameBlocksGroup extends HttpApiGroup.make("admin/usernameBlocks")
  .add(
    at.list,
    at.create,
    at.show,
    at.replace,
    at.change,
    at.remove
  )
  .middleware(Guard)
{}

const shown = ({ allowWithApproval, createdAt, exact, id, updatedAt, username }: UsernameBlock) =>
  json<AdminUsernameBlock>({
    id: String(id),
    username,
    exact,
    allowWithApproval,
    createdAt: timestamp(createdAt),
    updatedAt: timestamp(updatedAt)
  })

const wishOf = ({ allowWithApproval, exact, username }: UsernameBlockWrite) => ({
  username: username ?? undefined,
  exact,
  allowWithApproval
})

/** Reserved usernames. Mastodon has only a web page for them. */
export const layer = group(
  AdminUsernameBlocksGroup,
  Effect.fn(function*(handlers) {
    const blocks = yield* UsernameBlocks
    const table = yield* staffTable({
      name: "usernameBlocks",
      path,
      table: blocks,
      shown: (rows) => Effect.succeed(rows.map(shown))
    })
    return handlers.handleAll({
      ...table.handlers,
      create: table.create((by, write: UsernameBlockWrite) => blocks.create(by, wishOf(write))),
      ...table.changes((by, id, write: UsernameBlockWrite) => blocks.update(by, id, wishOf(write)))
    })
  })
).pipe(Layer.provide(UsernameBlocks.layer))
