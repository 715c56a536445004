import { Effect, Schema } from "effect"
import { HttpServerRequest } from "effect/http"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { PushPolicy, PushSubscriptions, type Subscription } from "../../services/push/PushSubscriptions.ts"
import { missingParameter, Unauthorized, validationFailed } from "../../services/runtime/Errors.ts"
import { traced } from "../../services/runtime/Traced.ts"
import { Secrets } from "../../services/secrets/Secrets.ts"
import { Access } from "../guard/Access.ts"
import { Caller } from "../guard/Caller.ts"
import { group } from "../guard/Group.ts"
import { Guard } from "../guard/Guard.ts"
import * as PresentedTokens from "../guard/PresentedTokens.ts"
import * as Reply from "../guard/Reply.ts"
import { json } from "../wire/Keys.ts"
import { NewPushSubscription, PushSubscriptionChange, WebPushSubscription } from "./wire/PushSubscription.ts"

const path = "/api/v1/push/subscription"
const access = Access.user("push")
const change = { payload: PushSubscriptionChange, success: WebPushSubscription }

export class PushSubscriptionsGroup extends HttpApiGroup.make("pushSubscriptions")
  .add(
    HttpApiEndpoint.post("create", path, { payload: NewPushSubscription, success: WebPushSubscription })
      .annotate(Access, access),
    HttpApiEndpoint.get("show", path, { success: WebPushSubscription }).annotate(Access, access),
    HttpApiEndpoint.put("change", path, change).annotate(Access, access),
    HttpApiEndpoint.patch("changeByPatch", path, change).annotate(Access, access),
    HttpApiEndpoint.delete("remove", path, { success: Schema.Struct({}) }).annotate(Access, access)
  )
  .middleware(Guard)
{}

/**
 * Returns the policy and the alerts that an app asks for. The default policy is `all`; alerts that are not named stay
 * off.
 */
const wantedOf = Effect.fnUntraced(function*({ data }: PushSubscriptionChange) {
  const policy = data?.policy || "all"
  if (!Schema.is(PushPolicy)(policy)) return yield* validationFailed("Policy is not included in the list")
  const alerts = Object.entries(data?.alerts ?? {}).flatMap(([type, enabled]) =>
    enabled === undefined ? [] : [[type, enabled] as const]
  )
  return { policy, alerts: Object.fromEntries(alerts) }
})

/** Returns the presented token with its id; the token may be in the header or the body. */
const presentedToken = Effect.gen(function*() {
  const request = yield* HttpServerRequest.HttpServerRequest
  const token = PresentedTokens.inHead(request) ??
    (yield* Effect.orElseSucceed(PresentedTokens.inBody(request), () => undefined))
  const { tokenId } = yield* Caller
  if (token === undefined || tokenId === undefined) return yield* new Unauthorized({ reason: "invalid" })
  return { token, tokenId }
})

/** Web Push subscriptions of the caller's token (S-090, S-155). */
export const layer = group(
  PushSubscriptionsGroup,
  Effect.fn(function*(handlers) {
    const subscriptions = yield* PushSubscriptions
    const { vapid: { publicKey } } = yield* Secrets

    const shown = (subscription: Subscription) =>
      Reply.json(json<WebPushSubscription>({ ...subscription, serverKey: publicKey }))
    const ofToken = Effect.flatMap(
      Caller,
      ({ tokenId }) => tokenId === undefined ? new Unauthorized({ reason: "invalid" }) : Effect.succeed(tokenId)
    )
    const changed = Effect.fnUntraced(function*({ payload }: { readonly payload: PushSubscriptionChange }) {
      return shown(yield* subscriptions.change(yield* ofToken, yield* wantedOf(payload)))
    })

    return handlers.handleAll({
      create: traced("pushSubscriptions.create")(function*({ payload }) {
        const { subscription } = payload
        if (subscription === undefined) {
          return yield* missingParameter("subscription")
        }
        const { endpoint, keys, standard = false } = subscription
        return shown(
          yield* subscriptions.replace(yield* presentedToken, {
            ...yield* wantedOf(payload),
            endpoint: endpoint ?? "",
            p256dh: keys?.p256dh ?? "",
            auth: keys?.auth ?? "",
            standard
          })
        )
      }),
      show: () => Effect.map(Effect.flatMap(ofToken, subscriptions.find), shown),
      change: changed,
      changeByPatch: changed,
      remove: () => Effect.as(Effect.flatMap(ofToken, subscriptions.remove), Reply.empty)
    })
  })
)
