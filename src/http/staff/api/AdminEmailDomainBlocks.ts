import { Clock, Effect, Layer } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import {
  type EmailDomainBlock,
  EmailDomainBlocks,
  historyDays
} from "../../../services/moderation/EmailDomainBlocks.ts"
import { traced } from "../../../services/runtime/Traced.ts"
import { Access } from "../../guard/Access.ts"
import { group } from "../../guard/Group.ts"
import { Guard } from "../../guard/Guard.ts"
import * as Reply from "../../guard/Reply.ts"
import { day, timestamp } from "../../wire/Common.ts"
import { DomainName } from "../../wire/DomainBlock.ts"
import { encode, json } from "../../wire/Keys.ts"
import { AdminEmailDomainBlock, EmailDomainBlockWrite, MailHosts } from "../wire/AdminBlocks.ts"
import { staffEndpoints } from "./StaffEndpoints.ts"
import { staffTable } from "./StaffTable.ts"

const path = "/api/v1/admin/email_domain_blocks"
const at = staffEndpoints({
  path,
  permission: "manageBlocks",
  scope: "email_domain_blocks",
  row: AdminEmailDomainBlock,
  write: EmailDomainBlockWrite
})

export class AdminEmailDomainBlocksGroup extends HttpApiGroup.make("admin/emailDomainBlocks")
  .add(
    at.list,
    at.create,
    HttpApiEndpoint.post("resolve", `${path}/resolve`, { payload: DomainName, success: MailHosts })
      .annotate(Access, at.reading),
    at.show,
    at.remove
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
    const table = yield* staffTable({ name: "emailDomainBlocks", path, table: blocks, shown })

    return handlers.handleAll({
      ...table.handlers,
      create: table.create((by, { allowWithApproval, confirmed, domain, otherDomains }: EmailDomainBlockWrite) =>
        blocks.create(by, {
          domain: domain ?? "",
          allowWithApproval: allowWithApproval === true,
          otherDomains: otherDomains ?? [],
          confirmed: confirmed === true
        })
      ),
      resolve: traced("admin.emailDomainBlocks.resolve")(function*({ payload }) {
        const domain = payload.domain?.trim() ?? ""
        return Reply.json(encode<MailHosts>({ domain, hosts: yield* blocks.exchanges(domain) }))
      })
    })
  })
).pipe(Layer.provide(EmailDomainBlocks.layer))
