import { Effect, Layer, Schema } from "effect"
import { HttpServerRequest } from "effect/http"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { requireEmail } from "../../services/identity/RegistrationRules.ts"
import { UserCatalogs } from "../../services/instance/UserCatalogs.ts"
import { traced } from "../../services/runtime/Traced.ts"
import { EmailSubscriptions } from "../../services/subscriptions/EmailSubscriptions.ts"
import { Access } from "../guard/Access.ts"
import { group } from "../guard/Group.ts"
import { Guard } from "../guard/Guard.ts"
import { Limits } from "../guard/Limits.ts"
import * as Reply from "../guard/Reply.ts"
import { EmailSubscription } from "../wire/AccountRequests.ts"
import { AccountIdPath } from "../wire/ReadRequests.ts"

export class EmailSubscriptionsGroup extends HttpApiGroup.make("emailSubscriptions")
  .add(
    HttpApiEndpoint.post("subscribe", "/api/v1/accounts/:id/email_subscriptions", {
      params: AccountIdPath,
      payload: EmailSubscription,
      success: Schema.Struct({})
    }).annotate(Access, Access.limited(Access.anyoneUnlessRestricted, "mailAddress"))
  )
  .middleware(Guard)
{}

/** Subscribes an e-mail address to an account's posts. */
export const layer = group(
  EmailSubscriptionsGroup,
  Effect.fn(function*(handlers) {
    const catalogs = yield* UserCatalogs
    const limits = yield* Limits
    const subscriptions = yield* EmailSubscriptions

    return handlers.handleAll({
      subscribe: traced("emailSubscriptions.subscribe")(function*({ params, payload }) {
        const email = yield* requireEmail(payload.email ?? "")
        yield* limits.spend([{ limit: "mailEmail", key: email.toLowerCase() }])
        const { headers } = yield* HttpServerRequest.HttpServerRequest
        const { tag } = yield* catalogs.of({ header: headers["accept-language"] })
        yield* subscriptions.subscribe(params.id, email, tag)
        return Reply.empty
      })
    })
  })
).pipe(Layer.provide(UserCatalogs.layer))
