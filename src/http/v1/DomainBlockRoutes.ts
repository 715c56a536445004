import { Effect, Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { AccountActors } from "../../actors/account/core/AccountActors.ts"
import { validDomain } from "../../services/federation/domains/RuledDomain.ts"
import { ServerConfig } from "../../services/instance/ServerConfig.ts"
import { UserDomainBlocks } from "../../services/social/UserDomainBlocks.ts"
import { Access } from "../guard/Access.ts"
import { Caller } from "../guard/Caller.ts"
import { group } from "../guard/Group.ts"
import { Guard } from "../guard/Guard.ts"
import * as Reply from "../guard/Reply.ts"
import * as Lists from "../render/ListResponses.ts"
import { domainRows } from "../render/PageSizes.ts"
import { DomainBlockPreview, DomainName } from "../wire/DomainBlock.ts"
import { encode, json } from "../wire/Keys.ts"
import { pageOf, PageQuery } from "../wire/PageQuery.ts"

const path = "/api/v1/domain_blocks"
const write = Access.user("follow", "write", "write:blocks")
const named = { payload: DomainName, success: Schema.Struct({}) }

export class DomainBlocksGroup extends HttpApiGroup.make("domainBlocks")
  .add(
    HttpApiEndpoint.get("list", path, { query: PageQuery, success: Schema.Array(Schema.String) })
      .annotate(Access, Access.user("follow", "read", "read:blocks")),
    HttpApiEndpoint.post("block", path, named).annotate(Access, write),
    HttpApiEndpoint.delete("unblock", path, named).annotate(Access, write),
    HttpApiEndpoint.get("preview", `${path}/preview`, { query: DomainName, success: DomainBlockPreview })
      .annotate(Access, write)
  )
  .middleware(Guard)
{}

const domainIn = ({ domain }: typeof DomainName.Type) => validDomain(domain ?? "")

/** Servers that the user blocks (S-212). */
export const layer = group(
  DomainBlocksGroup,
  Effect.fn(function*(handlers) {
    const actors = yield* AccountActors
    const domains = yield* UserDomainBlocks
    const { publicUrl } = yield* ServerConfig

    const change = (tag: "BlockDomain" | "UnblockDomain") =>
      Effect.fnUntraced(function*({ payload }: { readonly payload: typeof DomainName.Type }) {
        const viewer = yield* Caller.account
        yield* actors.tell(viewer, { _tag: tag, domain: yield* domainIn(payload) })
        return Reply.empty
      })

    return handlers.handleAll({
      list: Effect.fnUntraced(function*({ query }) {
        const page = pageOf(query, domainRows)
        const rows = yield* domains.page(yield* Caller.account, page)
        return Lists.page({
          baseUrl: publicUrl,
          path,
          page,
          rows,
          cursor: ({ cursor }) => cursor,
          items: rows.map(({ domain }) => encode(domain)),
          back: "since_id"
        })
      }),
      block: change("BlockDomain"),
      unblock: change("UnblockDomain"),
      preview: Effect.fnUntraced(function*({ query }) {
        const counts = yield* domains.preview(yield* Caller.account, yield* domainIn(query))
        return Reply.json(json<DomainBlockPreview>(counts))
      })
    })
  })
)
