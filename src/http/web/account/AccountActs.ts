import { Context, Effect, Layer } from "effect"
import { HttpRouter } from "effect/http"
import { AccountActors } from "../../../actors/account/core/AccountActors.ts"
import type { Command } from "../../../actors/account/core/Protocol.ts"
import { AccountId } from "../../../services/database/Ids.ts"
import { Accounts } from "../../../services/identity/Accounts.ts"
import { type ClientError, RecordNotFound, Unprocessable } from "../../../services/runtime/Errors.ts"
import { Suggestions } from "../../../services/suggestions/Suggestions.ts"
import { AccountViews } from "../../render/AccountViews.ts"
import { idOf } from "../shell/Paging.ts"
import type { MemberVisit } from "../shell/Visit.ts"
import { type ActResult, WebPages } from "../shell/WebPages.ts"
import { followForm } from "./FollowForm.ts"
import * as People from "./People.ts"

type Act = (visit: MemberVisit, id: AccountId, form: URLSearchParams) => Effect.Effect<ActResult | void, ClientError>

/** Acts on an account by the value of the pressed button: `POST /web/accounts/ID` with `act`. */
class AccountActs extends Context.Service<AccountActs, Readonly<Record<string, Act>>>()(
  "murmuration/http/web/account/AccountActs"
) {
  static readonly layer = Layer.effect(
    AccountActs,
    Effect.gen(function*() {
      const accounts = yield* Accounts
      const actors = yield* AccountActors
      const suggestions = yield* Suggestions
      const tell = (command: (target: AccountId) => Command): Act => ({ viewer }, id) =>
        Effect.asVoid(actors.tell(viewer, command(id)))
      return AccountActs.of({
        follow: tell((target) => ({ _tag: "Follow", target, reblogs: null, notify: null, languages: null })),
        unfollow: tell((target) => ({ _tag: "Unfollow", target })),
        removeFollower: tell((target) => ({ _tag: "RemoveFollower", target })),
        authorize: tell((target) => ({ _tag: "AuthorizeFollow", target })),
        reject: tell((target) => ({ _tag: "RejectFollow", target })),
        unblock: tell((target) => ({ _tag: "Unblock", target })),
        dismissSuggestion: Effect.fnUntraced(function*({ viewer }, id) {
          yield* suggestions.dismiss(viewer, (yield* accounts.find(id)).id)
        })
      })
    })
  )
}

const make = Effect.gen(function*() {
  const acts = yield* AccountActs
  const pages = yield* WebPages
  const people = yield* People.make

  const post = pages.act(Effect.fnUntraced(function*(visit, form) {
    const id = idOf(visit.params["id"])
    const name = form.get("act") ?? ""
    const act = Object.hasOwn(acts, name) ? acts[name] : undefined
    if (id === undefined) return yield* new RecordNotFound()
    if (act === undefined) {
      return yield* new Unprocessable({ text: "Validation failed: Action is not included in the list" })
    }
    const done = yield* act(visit, AccountId.make(id), form)
    return {
      at: `account-${id}`,
      part: Effect.gen(function*() {
        const [person] = yield* people.load(visit, [id])
        if (person === undefined) return yield* new RecordNotFound()
        return followForm({ ...visit, here: form.get("return") ?? visit.here }, person.account, person.relationship)
      }),
      ...done
    }
  }))
  return HttpRouter.add("POST", "/web/accounts/:id", post)
})

/** Acts on accounts, from any page that shows them. */
export const layer = Layer.unwrap(make).pipe(Layer.provide([AccountActs.layer, AccountViews.layer]))
