import { Effect, Struct } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { NotificationPolicies, type NotificationSettings } from "../../services/feeds/NotificationPolicies.ts"
import {
  type NotificationPolicy as StoredPolicy,
  type PolicyDecision,
  policyDecisions
} from "../../services/notifications/NotificationPolicy.ts"
import { validationFailed } from "../../services/runtime/Errors.ts"
import { traced } from "../../services/runtime/Traced.ts"
import { Access } from "../guard/Access.ts"
import { Caller } from "../guard/Caller.ts"
import { group } from "../guard/Group.ts"
import { Guard } from "../guard/Guard.ts"
import * as Reply from "../guard/Reply.ts"
import { json } from "../wire/Keys.ts"
import { NotificationPolicy, NotificationPolicyV1, PolicyRequest, PolicyV1Request } from "../wire/NotificationPolicy.ts"

const path = "/api/v2/notifications/policy"
const pathV1 = "/api/v1/notifications/policy"
const reading = Access.user("read", "read:notifications")
const writing = Access.user("write", "write:notifications")
const change = { payload: PolicyRequest, success: NotificationPolicy }
const changeV1 = { payload: PolicyV1Request, success: NotificationPolicyV1 }

export class NotificationPoliciesGroup extends HttpApiGroup.make("notificationPolicies")
  .add(
    HttpApiEndpoint.get("show", path, { success: NotificationPolicy }).annotate(Access, reading),
    HttpApiEndpoint.put("update", path, change).annotate(Access, writing),
    HttpApiEndpoint.patch("updateByPatch", path, change).annotate(Access, writing),
    HttpApiEndpoint.get("showV1", pathV1, { success: NotificationPolicyV1 }).annotate(Access, reading),
    HttpApiEndpoint.put("updateV1", pathV1, changeV1).annotate(Access, writing),
    HttpApiEndpoint.patch("updateV1ByPatch", pathV1, changeV1).annotate(Access, writing)
  )
  .middleware(Guard)
{}

/** Notification policies of users (operations.md section 10). */
export const layer = group(
  NotificationPoliciesGroup,
  Effect.fn(function*(handlers) {
    const policies = yield* NotificationPolicies

    const update = traced("notificationPolicies.update")(
      function*({ payload }: { readonly payload: PolicyRequest }) {
        const decisions = yield* decisionsOf(payload)
        return shown(yield* policies.change(yield* Caller.account, (before) => ({ ...before, ...decisions })))
      }
    )
    const updateV1 = traced("notificationPolicies.updateV1")(
      function*({ payload }: { readonly payload: PolicyV1Request }) {
        return shownV1(
          yield* policies.change(yield* Caller.account, (before) => ({ ...before, ...filteringOf(before, payload) }))
        )
      }
    )
    return handlers.handleAll({
      show: traced("notificationPolicies.show")(function*() {
        return shown(yield* policies.of(yield* Caller.account))
      }),
      update,
      updateByPatch: update,
      showV1: traced("notificationPolicies.showV1")(function*() {
        return shownV1(yield* policies.of(yield* Caller.account))
      }),
      updateV1,
      updateV1ByPatch: updateV1
    })
  })
)

/** Returns the decisions that a request makes; a blank value leaves a decision unchanged. */
export const decisionsOf = Effect.fnUntraced(function*(request: PolicyRequest) {
  const decisions: { -readonly [Subject in keyof StoredPolicy]?: PolicyDecision } = {}
  for (const subject of Struct.keys(request)) {
    const word = request[subject] ?? ""
    const decision = policyDecisions.find((one) => one === word)
    if (decision === undefined && word !== "") return yield* validationFailed("Policy is not included in the list")
    if (decision !== undefined) decisions[subject] = decision
  }
  return decisions
})

/** Returns the decisions of a v1 request. Version 1 shows `drop` as filtered; filtering it again keeps it `drop`. */
const filteringOf = (before: StoredPolicy, request: PolicyV1Request) => {
  const decisions: { -readonly [Subject in keyof StoredPolicy]?: PolicyDecision } = {}
  for (const subject of Struct.keys(request)) {
    const filters = request[subject]
    if (filters === undefined) continue
    decisions[subject] = !filters ? "accept" : before[subject] === "drop" ? "drop" : "filter"
  }
  return decisions
}

const summaryOf = ({ waiting }: NotificationSettings) => ({
  pendingRequestsCount: waiting.requests,
  pendingNotificationsCount: waiting.notifications
})

const shown = (settings: NotificationSettings) => {
  const { bots, limitedAccounts, newAccounts, newConversations, notFollowers, notFollowing, privateMentions } =
    settings.policy
  return Reply.json(json<NotificationPolicy>({
    forNotFollowing: notFollowing,
    forNotFollowers: notFollowers,
    forNewAccounts: newAccounts,
    forPrivateMentions: privateMentions,
    forLimitedAccounts: limitedAccounts,
    forBots: bots,
    forNewConversations: newConversations,
    summary: summaryOf(settings)
  }))
}

const shownV1 = (settings: NotificationSettings) => {
  const { bots, newAccounts, notFollowers, notFollowing, privateMentions } = settings.policy
  return Reply.json(json<NotificationPolicyV1>({
    filterNotFollowing: notFollowing !== "accept",
    filterNotFollowers: notFollowers !== "accept",
    filterNewAccounts: newAccounts !== "accept",
    filterPrivateMentions: privateMentions !== "accept",
    filterBots: bots !== "accept",
    summary: summaryOf(settings)
  }))
}
