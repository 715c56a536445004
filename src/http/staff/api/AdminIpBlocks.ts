import { Effect, Layer, Option } from "effect"
import { HttpServerRequest } from "effect/http"
import { HttpApiGroup } from "effect/http-api"
import type { AccountId } from "../../../services/database/Ids.ts"
import { type IpBlock, IpBlocks } from "../../../services/moderation/IpBlocks.ts"
import { group } from "../../guard/Group.ts"
import { Guard } from "../../guard/Guard.ts"
import { timestamp, timestampOrNull } from "../../wire/Common.ts"
import { json } from "../../wire/Keys.ts"
import { AdminIpBlock, IpBlockWrite } from "../wire/AdminBlocks.ts"
import { staffEndpoints } from "./StaffEndpoints.ts"
import { staffTable } from "./StaffTable.ts"

const path = "/api/v1/admin/ip_blocks"
const at = staffEndpoints({
  path,
  permission: "manageBlocks",
  scope: "ip_blocks",
  row: AdminIpBlock,
  write: IpBlockWrite
})

export class AdminIpBlocksGroup extends HttpApiGroup.make("admin/ipBlocks")
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

const shown = ({ comment, createdAt, expiresAt, id, ip, severity }: IpBlock) =>
  json<AdminIpBlock>({
    id: String(id),
    ip,
    severity,
    comment,
    createdAt: timestamp(createdAt),
    expiresAt: timestampOrNull(expiresAt)
  })

/** Parses a duration from a form, in seconds; null if it is not a number, which means never. */
const secondsOf = (text: string | null): number | null => {
  const seconds = Number.parseInt(text ?? "", 10)
  return Number.isSafeInteger(seconds) ? seconds : null
}

const wishOf = ({ comment, confirmed, expiresIn, ip, severity }: IpBlockWrite) => ({
  confirmed: confirmed === true,
  ip: ip ?? undefined,
  severity: severity ?? undefined,
  comment: comment === null ? "" : comment,
  expiresInSeconds: expiresIn === undefined ? undefined : secondsOf(expiresIn)
})

/** The client's IP address. */
const address = Effect.map(
  HttpServerRequest.HttpServerRequest,
  ({ remoteAddress }) => Option.getOrUndefined(remoteAddress)
)
/** Runs an action with the acting account and the client's IP address. */
const asAuthor = <A, E>(
  by: AccountId,
  work: (author: { readonly by: AccountId; readonly address: string | undefined }) => Effect.Effect<A, E>
) => Effect.flatMap(address, (from) => work({ by, address: from }))

/** IP blocks: networks that may not sign up, or not connect at all (S-174). */
export const layer = group(
  AdminIpBlocksGroup,
  Effect.fn(function*(handlers) {
    const blocks = yield* IpBlocks
    const table = yield* staffTable({
      name: "ipBlocks",
      path,
      table: {
        ...blocks,
        remove: (by, id) => asAuthor(by, (author) => blocks.remove(author, id))
      },
      shown: (rows) => Effect.succeed(rows.map(shown))
    })
    return handlers.handleAll({
      ...table.handlers,
      create: table.create((by, write: IpBlockWrite) => asAuthor(by, (author) => blocks.create(author, wishOf(write)))),
      ...table.changes((by, id, write: IpBlockWrite) =>
        asAuthor(by, (author) => blocks.update(author, id, wishOf(write)))
      )
    })
  })
).pipe(Layer.provide(IpBlocks.layer))
