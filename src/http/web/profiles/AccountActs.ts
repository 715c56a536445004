import { Context, Effect, Layer } from "effect"
import { HttpRouter } from "effect/http"
import { AccountActors } from "../../../actors/account/core/AccountActors.ts"
import type { Command } from "../../../actors/account/core/Protocol.ts"
import { AccountId } from "../../../services/database/Ids.ts"
import { type ClientError, RecordNotFound, Unprocessable } from "../../../services/runtime/Errors.ts"
import { idOf } from "../shell/Paging.ts"
import type { MemberVisit } from "../shell/Visit.ts"
import { type ActResult, WebPages } from "../shell/WebPages.ts"

type Act = (visit: MemberVisit, id: AccountId, form: URLSearchParams) => Effect.Effect<ActResult | void, ClientError>

/** Acts on an account by the value of the pressed button: `POST /web/accounts/ID` with `act`. */
class AccountActs extends Context.Service<AccountActs, Readonly<Record<string, Act>>>()(
  "murmuration/http/web/profiles/AccountActs"
) {
  static readonly layer = Layer.effect(
    AccountActs,
    Effect.gen(function*() {
      const actors = yield* AccountActors
      const tell = (command: (target: AccountId) => Command): Act => ({ viewer }, id) =>
        Effect.asVoid(actors.tell(viewer, command(id)))
      return AccountActs.of({
        follow: tell((target) => ({ _tag: "Follow", target, reblogs: null, notify: null, languages: null })),
        unfollow: tell((target) => ({ _tag: "Unfollow", target }))
      })
    })
  )
}

const make = Effect.gen(function*() {
  const acts = yield* AccountActs
  const pages = yield* WebPages
  const post = pages.act(Effect.fnUntraced(function*(visit, form) {
    const { id: digits } = yield* HttpRouter.params
    const id = idOf(digits)
    const name = form.get("act") ?? ""
    const act = Object.hasOwn(acts, name) ? acts[name] : undefined
    if (id === undefined) return yield* new RecordNotFound()
    if (act === undefined) {
      return yield* new Unprocessable({ text: "Validation failed: Action is not included in the list" })
    }
    return (yield* act(visit, AccountId.make(id), form)) ?? {}
  }))
  return HttpRouter.add("POST", "/web/accounts/:id", post)
})

/** Acts on accounts, from their profiles and from lists of accounts. */
export const layer = Layer.unwrap(make).pipe(Layer.provide(AccountActs.layer))
