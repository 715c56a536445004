import { Effect, Layer, Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { normalise } from "../../services/html/HashtagNames.ts"
import { Accounts } from "../../services/identity/Accounts.ts"
import { listAccountsMax } from "../../services/instance/ContentLimits.ts"
import { ServerConfig } from "../../services/instance/ServerConfig.ts"
import { RecordNotFound } from "../../services/runtime/Errors.ts"
import { traced } from "../../services/runtime/Traced.ts"
import { ListMembers } from "../../services/social/ListMembers.ts"
import { OwnedLists } from "../../services/social/OwnedLists.ts"
import { Tags } from "../../services/statuses/Tags.ts"
import { bounded } from "../../services/text/BoundedText.ts"
import { Access } from "../guard/Access.ts"
import { Caller } from "../guard/Caller.ts"
import { group } from "../guard/Group.ts"
import { Guard } from "../guard/Guard.ts"
import * as Reply from "../guard/Reply.ts"
import { AccountViews } from "../render/AccountViews.ts"
import * as Lists from "../render/ListResponses.ts"
import { accountRows } from "../render/PageSizes.ts"
import { TagViews } from "../render/TagViews.ts"
import { Account } from "../wire/Account.ts"
import { ListAccounts, ListTags } from "../wire/List.ts"
import { pageOf, PageQuery } from "../wire/PageQuery.ts"
import { IdPath } from "../wire/ReadRequests.ts"
import { Tag } from "../wire/Tag.ts"

const reading = Access.user("read", "read:lists")
const writing = Access.user("write", "write:lists")
const accounts = { params: IdPath, payload: ListAccounts, success: Schema.Struct({}) }
const tags = { params: IdPath, payload: ListTags, success: Schema.Struct({}) }

export class ListMembersGroup extends HttpApiGroup.make("listMembers")
  .add(
    HttpApiEndpoint.get("accounts", "/:id/accounts", {
      params: IdPath,
      query: PageQuery,
      success: Schema.Array(Account)
    }).annotate(Access, reading),
    HttpApiEndpoint.post("addAccounts", "/:id/accounts", accounts).annotate(Access, writing),
    HttpApiEndpoint.delete("removeAccounts", "/:id/accounts", accounts).annotate(Access, writing),
    HttpApiEndpoint.get("tags", "/:id/tags", { params: IdPath, success: Schema.Array(Tag) }).annotate(Access, reading),
    HttpApiEndpoint.post("addTags", "/:id/tags", tags).annotate(Access, writing),
    HttpApiEndpoint.delete("removeTags", "/:id/tags", tags).annotate(Access, writing)
  )
  .prefix("/api/v1/lists")
  .middleware(Guard)
{}

/** Members of lists: accounts (S-218, S-219), and beyond Mastodon hashtags. */
export const layer = group(
  ListMembersGroup,
  Effect.fn(function*(handlers) {
    const known = yield* Accounts
    const lists = yield* OwnedLists
    const members = yield* ListMembers
    const words = yield* Tags
    const accountViews = yield* AccountViews
    const tagViews = yield* TagViews
    const { publicUrl } = yield* ServerConfig

    const namesIn = ({ tags = [] }: typeof ListTags.Type) => tags.map((name) => name.trim().replace(/^#/, ""))

    return handlers.handleAll({
      accounts: traced("listMembers.accounts")(function*({ params, query }) {
        const owner = yield* Caller.account
        const page = pageOf(query, accountRows)
        const all = page.limit === 0
        const rows = yield* members.accounts(owner, params.id, all ? { limit: listAccountsMax } : page)
        const items = yield* accountViews.render(rows.map(({ accountId }) => accountId))
        if (all) return Reply.list(items)
        return Lists.page({
          baseUrl: publicUrl,
          path: `/api/v1/lists/${params.id}/accounts`,
          page,
          rows,
          cursor: ({ cursor }) => cursor,
          items,
          back: "since_id"
        })
      }),
      addAccounts: traced("listMembers.addAccounts")(function*({ params, payload }) {
        const owner = yield* Caller.account
        yield* lists.find(owner, params.id)
        const named = new Set(payload.accountIds)
        const found = yield* known.known(Lists.idsOf(payload.accountIds))
        if (found.length < named.size) return yield* new RecordNotFound()
        yield* members.addAccounts(owner, params.id, found)
        return Reply.empty
      }),
      removeAccounts: traced("listMembers.removeAccounts")(function*({ params, payload }) {
        yield* members.removeAccounts(yield* Caller.account, params.id, Lists.idsOf(payload.accountIds))
        return Reply.empty
      }),
      tags: traced("listMembers.tags")(function*({ params }) {
        const owner = yield* Caller.account
        return Reply.list(yield* tagViews.render(owner, yield* members.tags(owner, params.id)))
      }),
      addTags: traced("listMembers.addTags")(function*({ params, payload }) {
        const owner = yield* Caller.account
        yield* lists.find(owner, params.id)
        const coined = yield* Effect.catchTag(words.findOrCreate(namesIn(payload)), "SqlError", Effect.die)
        yield* members.addTags(owner, params.id, coined)
        return Reply.empty
      }),
      removeTags: traced("listMembers.removeTags")(function*({ params, payload }) {
        yield* members.removeTags(
          yield* Caller.account,
          params.id,
          namesIn(payload).map((name) => normalise(bounded(name)))
        )
        return Reply.empty
      })
    })
  })
).pipe(Layer.provide([AccountViews.layer, TagViews.layer]))
