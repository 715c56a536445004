import { Effect, Layer, Option, Schema } from "effect"
import { HttpServerRequest } from "effect/http"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { type IpBlock, IpBlocks } from "../../../services/moderation/IpBlocks.ts"
import { traced } from "../../../services/runtime/Traced.ts"
import { group } from "../../Group.ts"
import { Access } from "../../guard/Access.ts"
import { Caller } from "../../guard/Caller.ts"
import { Guard } from "../../guard/Guard.ts"
import * as Reply from "../../guard/Reply.ts"
import { timestamp, timestampOrNull } from "../../wire/Common.ts"
import { json } from "../../wire/Keys.ts"
import { PageQuery } from "../../wire/PageQuery.ts"
import { IdPath } from "../../wire/ReadRequests.ts"
import { AdminIpBlock, IpBlockWrite } from "../wire/AdminBlocks.ts"
import { staffTable } from "./StaffTable.ts"

const reading = Access.staff("manageBlocks", "admin:read", "admin:read:ip_blocks")
const writing = Access.staff("manageBlocks", "admin:write", "admin:write:ip_blocks")
const path = "/api/v1/admin/ip_blocks"
const changing = { params: IdPath, payload: IpBlockWrite, success: AdminIpBlock }

export class AdminIpBlocksGroup extends HttpApiGroup.make("admin/ipBlocks")
  .add(
    HttpApiEndpoint.get("list", path, { query: PageQuery, success: Schema.Array(AdminIpBlock) })
      .annotate(Access, reading),
    HttpApiEndpoint.post("create", path, { payload: IpBlockWrite, success: AdminIpBlock }).annotate(Access, writing),
    HttpApiEndpoint.get("show", `${path}/:id`, { params: IdPath, success: AdminIpBlock }).annotate(Access, reading),
    HttpApiEndpoint.put("replace", `${path}/:id`, changing).annotate(Access, writing),
    HttpApiEndpoint.patch("change", `${path}/:id`, changing).annotate(Access, writing),
    HttpApiEndpoint.delete("remove", `${path}/:id`, { params: IdPath, success: Schema.Struct({}) })
      .annotate(Access, writing)
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
/** The acting account and the client's IP address. */
const author = Effect.all({ by: Caller.account, address })

interface Changing {
  readonly params: { readonly id: bigint }
  readonly payload: IpBlockWrite
}

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
        remove: (by, id) => Effect.flatMap(address, (from) => blocks.remove({ by, address: from }, id))
      },
      shown: (rows) => Effect.succeed(rows.map(shown))
    })
    const change = traced("admin.ipBlocks.change")(function*({ params, payload }: Changing) {
      return Reply.json(shown(yield* blocks.update(yield* author, params.id, wishOf(payload))))
    })
    return handlers.handleAll({
      ...table.handlers,
      create: traced("admin.ipBlocks.create")(function*({ payload }) {
        return Reply.json(shown(yield* blocks.create(yield* author, wishOf(payload))))
      }),
      replace: change,
      change
    })
  })
).pipe(Layer.provide(IpBlocks.layer))
