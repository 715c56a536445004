import { Schema } from "effect"
import { Count } from "./Common.ts"
import { json } from "./Keys.ts"

const Decision = Schema.Literals(["accept", "filter", "drop"])
const Summary = Schema.Struct({ pending_requests_count: Count, pending_notifications_count: Count })

/** The treatment of notifications from accounts that the owner may not want to hear. */
export const NotificationPolicy = Schema.Struct({
  for_not_following: Decision,
  for_not_followers: Decision,
  for_new_accounts: Decision,
  for_private_mentions: Decision,
  for_limited_accounts: Decision,
  for_bots: Decision,
  summary: Summary
}).annotate({ identifier: "NotificationPolicy" })
export type NotificationPolicy = typeof NotificationPolicy.Type

/** The older form, which knows no dropping. */
export const NotificationPolicyV1 = Schema.Struct({
  filter_not_following: Schema.Boolean,
  filter_not_followers: Schema.Boolean,
  filter_new_accounts: Schema.Boolean,
  filter_private_mentions: Schema.Boolean,
  filter_bots: Schema.Boolean,
  summary: Summary
}).annotate({ identifier: "V1NotificationPolicy" })
export type NotificationPolicyV1 = typeof NotificationPolicyV1.Type

const summary = { pendingRequestsCount: 0, pendingNotificationsCount: 0 }

/** The policy of a server that filters nothing. */
export const acceptsAll = json<NotificationPolicy>({
  forNotFollowing: "accept",
  forNotFollowers: "accept",
  forNewAccounts: "accept",
  forPrivateMentions: "accept",
  forLimitedAccounts: "accept",
  forBots: "accept",
  summary
})

export const acceptsAllV1 = json<NotificationPolicyV1>({
  filterNotFollowing: false,
  filterNotFollowers: false,
  filterNewAccounts: false,
  filterPrivateMentions: false,
  filterBots: false,
  summary
})
