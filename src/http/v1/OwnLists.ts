import { Effect, identity, Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import type { AccountId } from "../../services/Ids.ts"
import { ServerConfig } from "../../services/instance/ServerConfig.ts"
import type { Page } from "../../services/Paging.ts"
import { renderedRows } from "../../services/RenderedRows.ts"
import { Blocks } from "../../services/social/Blocks.ts"
import { FollowLists } from "../../services/social/FollowLists.ts"
import { Mutes } from "../../services/social/Mutes.ts"
import { Interactions, type Listed } from "../../services/statuses/Interactions.ts"
import { traced } from "../../services/Traced.ts"
import { group } from "../Group.ts"
import { Access } from "../guard/Access.ts"
import { Caller } from "../guard/Caller.ts"
import { Guard } from "../guard/Guard.ts"
import { AccountViews } from "../render/AccountViews.ts"
import * as Lists from "../render/Lists.ts"
import { accountRows, statusRows } from "../render/Pages.ts"
import { StatusViews } from "../render/StatusViews.ts"
import { Account, MutedAccount } from "../wire/Account.ts"
import { timestampOrNull } from "../wire/Common.ts"
import { extend, type Ready } from "../wire/Keys.ts"
import { pageOf, PageQuery } from "../wire/PageQuery.ts"
import { Status } from "../wire/Status.ts"

const accounts = { query: PageQuery, success: Schema.Array(Account) }

export class OwnListsGroup extends HttpApiGroup.make("ownLists")
  .add(
    HttpApiEndpoint.get("favourites", "/favourites", { query: PageQuery, success: Schema.Array(Status) })
      .annotate(Access, Access.user("read", "read:favourites")),
    HttpApiEndpoint.get("blocks", "/blocks", accounts).annotate(Access, Access.user("follow", "read", "read:blocks")),
    HttpApiEndpoint.get("mutes", "/mutes", { query: PageQuery, success: Schema.Array(MutedAccount) })
      .annotate(Access, Access.user("follow", "read", "read:mutes")),
    HttpApiEndpoint.get("followRequests", "/follow_requests", accounts)
      .annotate(Access, Access.user("follow", "read", "read:follows")),
    HttpApiEndpoint.get("endorsements", "/endorsements", accounts)
      .annotate(Access, Access.user("read", "read:accounts"))
  )
  .prefix("/api/v1")
  .middleware(Guard)
{}

interface Asked {
  readonly query: Parameters<typeof pageOf>[0]
}

/** What only their owner sees: favourites, blocks, mutes (S-141), follow requests (S-210), featured accounts (S-213). */
export const layer = group(
  OwnListsGroup,
  Effect.fn(function*(handlers) {
    const interactions = yield* Interactions
    const followLists = yield* FollowLists
    const blocks = yield* Blocks
    const mutes = yield* Mutes
    const views = yield* AccountViews
    const statusViews = yield* StatusViews
    const { publicUrl } = yield* ServerConfig

    const people = <Row extends Listed, Shown>(
      name: string,
      read: (owner: AccountId, page: Page) => Effect.Effect<ReadonlyArray<Row>>,
      item: (account: Ready<Account>, row: Row) => Ready<Shown>
    ) =>
      traced(`ownLists.${name}`)(function*({ query }: Asked) {
        const page = pageOf(query, accountRows)
        const rows = yield* read(yield* Caller.account, page)
        const found = yield* views.byId(rows.map(({ accountId }) => accountId))
        return Lists.page({
          baseUrl: publicUrl,
          path: `/api/v1/${name}`,
          page,
          rows,
          cursor: ({ cursor }) => cursor,
          items: yield* renderedRows(name, rows, ({ accountId }) => accountId, (row) => {
            const account = found.get(row.accountId)
            return account === undefined ? undefined : item(account, row)
          }),
          back: "since_id"
        })
      })

    return handlers.handleAll({
      favourites: traced("ownLists.favourites")(function*({ query }: Asked) {
        const viewer = yield* Caller.account
        const page = pageOf(query, statusRows)
        const rows = yield* interactions.favouritesOf(viewer, page)
        return Lists.page({
          baseUrl: publicUrl,
          path: "/api/v1/favourites",
          page,
          rows,
          cursor: ({ cursor }) => cursor,
          items: yield* statusViews.render(viewer, rows.map(({ statusId }) => statusId), "permitted")
        })
      }),
      blocks: people("blocks", blocks.page, identity),
      mutes: people(
        "mutes",
        mutes.page,
        (account, { expiresAt }) => extend<MutedAccount>(account, { muteExpiresAt: timestampOrNull(expiresAt) })
      ),
      followRequests: people("follow_requests", followLists.requests, identity),
      endorsements: people(
        "endorsements",
        (owner, page) => followLists.endorsed(owner, { id: owner, suspended: false, hideCollections: false }, page),
        identity
      )
    })
  })
)
