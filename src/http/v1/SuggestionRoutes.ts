import { Effect, Layer, Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { AccountIdFromString } from "../../services/database/Ids.ts"
import { offsetPageOf } from "../../services/database/Paging.ts"
import { Accounts } from "../../services/identity/Accounts.ts"
import { traced } from "../../services/runtime/Traced.ts"
import { Suggestions } from "../../services/suggestions/Suggestions.ts"
import { Access } from "../guard/Access.ts"
import { Caller } from "../guard/Caller.ts"
import { group } from "../guard/Group.ts"
import { Guard } from "../guard/Guard.ts"
import * as Reply from "../guard/Reply.ts"
import { AccountViews } from "../render/AccountViews.ts"
import { deprecated } from "../render/Deprecation.ts"
import { accountRows } from "../render/PageSizes.ts"
import { Account } from "../wire/Account.ts"
import { withMembers } from "../wire/Keys.ts"
import { StretchQuery } from "../wire/ReadRequests.ts"
import * as Wire from "../wire/Suggestion.ts"

const reading = Access.user("read", "read:accounts")

export class SuggestionsGroup extends HttpApiGroup.make("suggestions")
  .add(
    HttpApiEndpoint.get("accounts", "/api/v1/suggestions", { query: StretchQuery, success: Schema.Array(Account) })
      .annotate(Access, reading),
    HttpApiEndpoint.get("list", "/api/v2/suggestions", {
      query: StretchQuery,
      success: Schema.Array(Wire.Suggestion)
    }).annotate(Access, reading),
    HttpApiEndpoint.delete("dismiss", "/api/v1/suggestions/:accountId", {
      params: { accountId: AccountIdFromString },
      success: Schema.Struct({})
    }).annotate(Access, Access.user("write", "write:accounts"))
  )
  .middleware(Guard)
{}

/** Follow suggestions for the caller (S-156, S-157, S-293). */
export const layer = group(
  SuggestionsGroup,
  Effect.fn(function*(handlers) {
    const accounts = yield* Accounts
    const suggestions = yield* Suggestions
    const views = yield* AccountViews
    return handlers.handleAll({
      accounts: traced("suggestions.accounts")(function*({ query }) {
        const ids = yield* suggestions.interactedWith(yield* Caller.account, offsetPageOf(query, accountRows))
        return Reply.withHeaders(Reply.list(yield* views.render(ids)), deprecated("2021-05-16"))
      }),
      list: traced("suggestions.list")(function*({ query }) {
        const found = yield* suggestions.all(yield* Caller.account, offsetPageOf(query, accountRows))
        const shown = yield* views.byId(found.map(({ accountId }) => accountId))
        return Reply.list(found.flatMap(({ accountId, interactedWith, sources }) => {
          const account = shown.get(accountId)
          const source = Wire.legacySource(interactedWith, sources)
          return account === undefined
            ? []
            : [withMembers<Wire.Suggestion, "account">({ source, sources }, { account })]
        }))
      }),
      dismiss: traced("suggestions.dismiss")(function*({ params }) {
        const viewer = yield* Caller.account
        yield* suggestions.dismiss(viewer, (yield* accounts.find(params.accountId)).id)
        return Reply.empty
      })
    })
  })
).pipe(Layer.provide(AccountViews.layer))
