import { Effect, Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { RecordNotFound } from "../../services/Errors.ts"
import { Accounts, type FoundAccount } from "../../services/identity/Accounts.ts"
import type { AccountId } from "../../services/Ids.ts"
import { ServerConfig } from "../../services/instance/ServerConfig.ts"
import type { Page } from "../../services/Paging.ts"
import { renderedRows } from "../../services/RenderedRows.ts"
import { AccountNotes } from "../../services/social/AccountNotes.ts"
import { FollowLists } from "../../services/social/FollowLists.ts"
import { OwnedLists } from "../../services/social/OwnedLists.ts"
import { Relationships } from "../../services/social/Relationships.ts"
import type { Listed } from "../../services/statuses/Interactions.ts"
import { traced } from "../../services/Traced.ts"
import type { Viewer } from "../../services/Viewer.ts"
import { group } from "../Group.ts"
import { Access } from "../guard/Access.ts"
import { Caller } from "../guard/Caller.ts"
import { Guard } from "../guard/Guard.ts"
import * as Reply from "../guard/Reply.ts"
import { AccountViews } from "../render/AccountViews.ts"
import { deprecated } from "../render/Deprecation.ts"
import { FeaturedTagViews } from "../render/FeaturedTagViews.ts"
import * as Lists from "../render/Lists.ts"
import { accountRows } from "../render/Pages.ts"
import { listValues, relationshipValues } from "../render/Values.ts"
import { Account, FamiliarFollowers } from "../wire/Account.ts"
import { json, list, splice } from "../wire/Keys.ts"
import { List } from "../wire/List.ts"
import { pageOf, PageQuery } from "../wire/PageQuery.ts"
import { AccountIdPath, Ids, NewNote, RelationshipsQuery } from "../wire/ReadRequests.ts"
import { Relationship } from "../wire/Relationship.ts"
import { FeaturedTag } from "../wire/Tag.ts"
import { accountBatchMax } from "./Accounts.ts"

const reading = Access.public("read", "read:accounts")
const follows = Access.user("read", "read:follows")
const paged = { params: AccountIdPath, query: PageQuery, success: Schema.Array(Account) }

export class AccountConnectionsGroup extends HttpApiGroup.make("accountConnections")
  .add(
    HttpApiEndpoint.get("relationships", "/relationships", {
      query: RelationshipsQuery,
      success: Schema.Array(Relationship)
    }).annotate(Access, follows),
    HttpApiEndpoint.get("familiarFollowers", "/familiar_followers", {
      query: Ids,
      success: Schema.Array(FamiliarFollowers)
    }).annotate(Access, follows),
    HttpApiEndpoint.get("followers", "/:id/followers", paged).annotate(Access, reading),
    HttpApiEndpoint.get("following", "/:id/following", paged).annotate(Access, reading),
    HttpApiEndpoint.get("endorsements", "/:id/endorsements", paged).annotate(Access, reading),
    HttpApiEndpoint.get("featuredTags", "/:id/featured_tags", {
      params: AccountIdPath,
      success: Schema.Array(FeaturedTag)
    }).annotate(Access, Access.public()),
    HttpApiEndpoint.get("lists", "/:id/lists", { params: AccountIdPath, success: Schema.Array(List) })
      .annotate(Access, Access.user("read", "read:lists")),
    HttpApiEndpoint.get("identityProofs", "/:id/identity_proofs", {
      params: AccountIdPath,
      success: Schema.Array(Schema.Unknown)
    }).annotate(Access, Access.user()),
    HttpApiEndpoint.post("note", "/:id/note", { params: AccountIdPath, payload: NewNote, success: Relationship })
      .annotate(Access, Access.user("write", "write:accounts"))
  )
  .prefix("/api/v1/accounts")
  .middleware(Guard)
{}

type Read = (viewer: Viewer, of: FoundAccount, page: Page) => Effect.Effect<ReadonlyArray<Listed>>

/** How accounts stand to one another (S-047 to S-053, S-096, S-136, S-213, S-216). */
export const layer = group(
  AccountConnectionsGroup,
  Effect.fn(function*(handlers) {
    const accounts = yield* Accounts
    const relationships = yield* Relationships
    const followLists = yield* FollowLists
    const accountNotes = yield* AccountNotes
    const lists = yield* OwnedLists
    const views = yield* AccountViews
    const featuredTags = yield* FeaturedTagViews
    const { publicUrl } = yield* ServerConfig

    const connected = (name: string, read: Read) =>
      traced(`accountConnections.${name}`)(function*(
        { params, query }: {
          readonly params: { readonly id: AccountId }
          readonly query: Parameters<typeof pageOf>[0]
        }
      ) {
        const page = pageOf(query, accountRows)
        const rows = yield* read(yield* Caller.viewer, yield* accounts.find(params.id), page)
        return Lists.page({
          baseUrl: publicUrl,
          path: `/api/v1/accounts/${params.id}/${name}`,
          page,
          rows,
          cursor: ({ cursor }) => cursor,
          items: yield* views.render(rows.map(({ accountId }) => accountId)),
          back: "since_id"
        })
      })

    return handlers.handleAll({
      relationships: traced("accountConnections.relationships")(function*({ query }) {
        const found = yield* relationships.of(yield* Caller.account, Lists.idsOf(query.id), {
          withSuspended: query.withSuspended === true
        })
        return Reply.list(
          yield* renderedRows(
            "relationship",
            found,
            ({ id }) => id,
            (record) => json<Relationship>(relationshipValues(record))
          )
        )
      }),
      familiarFollowers: traced("accountConnections.familiarFollowers")(function*({ query }) {
        const ids = Lists.idsOf(query.id).slice(0, accountBatchMax)
        const found = yield* followLists.familiar(yield* Caller.account, ids)
        const people = yield* views.byId(new Set(found.flatMap(({ accountIds }) => accountIds)))
        return Reply.list(found.map(({ accountIds, id }) =>
          splice<FamiliarFollowers, "accounts">({ id: String(id) }, {
            accounts: list(accountIds.flatMap((account) => people.get(account) ?? []))
          })
        ))
      }),
      followers: connected("followers", followLists.followers),
      following: connected("following", followLists.following),
      endorsements: connected("endorsements", followLists.endorsed),
      featuredTags: traced("accountConnections.featuredTags")(function*({ params }) {
        const found = yield* accounts.find(params.id)
        return Reply.list(found.suspended ? [] : yield* featuredTags.of(found.id))
      }),
      lists: traced("accountConnections.lists")(function*({ params }) {
        const { id } = yield* accounts.find(params.id)
        const holding = yield* lists.holding(yield* Caller.account, id)
        return Reply.list(holding.map((one) => json<List>(listValues(one))))
      }),
      // Nobody has any, but the account must exist.
      identityProofs: ({ params }) =>
        Effect.as(accounts.find(params.id), Reply.withHeaders(deprecated("2022-03-30"))(Reply.list([]))),
      note: traced("accountConnections.note")(function*({ params, payload }) {
        const viewer = yield* Caller.account
        const { id } = yield* accounts.find(params.id)
        yield* accountNotes.write(viewer, id, payload.comment ?? "")
        const [found] = yield* relationships.of(viewer, [id], { withSuspended: true })
        if (found === undefined) return yield* new RecordNotFound()
        return Reply.json(json<Relationship>(relationshipValues(found)))
      })
    })
  })
)
