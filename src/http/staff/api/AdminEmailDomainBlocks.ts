import { Clock, Effect, Layer, Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import {
  type EmailDomainBlock,
  EmailDomainBlocks,
  historyDays
} from "../../../services/moderation/EmailDomainBlocks.ts"
import { traced } from "../../../services/runtime/Traced.ts"
import { group } from "../../Group.ts"
import { Access } from "../../guard/Access.ts"
import { Caller } from "../../guard/Caller.ts"
import { Guard } from "../../guard/Guard.ts"
import * as Reply from "../../guard/Reply.ts"
import { day, timestamp } from "../../wire/Common.ts"
import { DomainName } from "../../wire/DomainBlock.ts"
import { encode, json } from "../../wire/Keys.ts"
import { PageQuery } from "../../wire/PageQuery.ts"
import { IdPath } from "../../wire/ReadRequests.ts"
import { AdminEmailDomainBlock, EmailDomainBlockWrite, MailHosts } from "../wire/AdminBlocks.ts"
import { staffTable } from "./StaffTable.ts"

const reading = Access.staff("manageBlocks", "admin:read", "admin:read:email_domain_blocks")
const writing = Access.staff("manageBlocks", "admin:write", "admin:write:email_domain_blocks")
const path = "/api/v1/admin/email_domain_blocks"

export class AdminEmailDomainBlocksGroup extends HttpApiGroup.make("admin/emailDomainBlocks")
  .add(
    HttpApiEndpoint.get("list", path, { query: PageQuery, success: Schema.Array(AdminEmailDomainBlock) })
      .annotate(Access, reading),
    HttpApiEndpoint.post("create", path, { payload: EmailDomainBlockWrite, success: AdminEmailDomainBlock })
      .annotate(Access, writing),
    HttpApiEndpoint.post("resolve", `${path}/resolve`, { payload: DomainName, success: MailHosts })
      .annotate(Access, reading),
    HttpApiEndpoint.get("show", `${path}/:id`, { params: IdPath, success: AdminEmailDomainBlock })
      .annotate(Access, reading),
    HttpApiEndpoint.delete("remove", `${path}/:id`, { params: IdPath, success: Schema.Struct({}) })
      .annotate(Access, writing)
  )
  .middleware(Guard)
{}

const dayMillis = 86_400_000

/**
 * E-mail providers that are blocked from sign-up (S-173). `resolve` finds a provider's mail servers, so that they are
 * blocked, too.
 */
export const layer = group(
  AdminEmailDomainBlocksGroup,
  Effect.fn(function*(handlers) {
    const blocks = yield* EmailDomainBlocks

    const shown = Effect.fnUntraced(function*(found: ReadonlyArray<EmailDomainBlock>) {
      const now = yield* Clock.currentTimeMillis
      const days = Map.groupBy(yield* blocks.history(found.map(({ id }) => id)), ({ blockId }) => blockId)
      return found.map(({ allowWithApproval, createdAt, domain, id }) =>
        json<AdminEmailDomainBlock>({
          id: String(id),
          domain,
          createdAt: timestamp(createdAt),
          history: Array.from({ length: historyDays }, (_, back) => {
            const midnight = Math.floor(now / dayMillis - back) * dayMillis
            const of = days.get(id)?.find((one) => one.day === day(new Date(midnight)))
            return {
              day: String(midnight / 1_000),
              uses: String(of?.uses ?? 0),
              accounts: String(of?.accounts ?? 0)
            }
          }),
          allowWithApproval
        })
      )
    })
    const { answer, handlers: common } = yield* staffTable({ name: "emailDomainBlocks", path, table: blocks, shown })

    return handlers.handleAll({
      ...common,
      create: traced("admin.emailDomainBlocks.create")(function*({ payload }) {
        return yield* answer(
          yield* blocks.create(yield* Caller.account, {
            domain: payload.domain ?? "",
            allowWithApproval: payload.allowWithApproval === true,
            otherDomains: payload.otherDomains ?? [],
            confirmed: payload.confirmed === true
          })
        )
      }),
      resolve: traced("admin.emailDomainBlocks.resolve")(function*({ payload }) {
        const domain = payload.domain?.trim() ?? ""
        return Reply.json(encode<MailHosts>({ domain, hosts: yield* blocks.exchanges(domain) }))
      })
    })
  })
).pipe(Layer.provide(EmailDomainBlocks.layer))
