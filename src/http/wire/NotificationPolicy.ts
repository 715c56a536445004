import { Schema } from "effect"
import { PolicyDecision } from "../../services/notifications/NotificationPolicy.ts"
import { Account } from "./Account.ts"
import { Count, Figure, Id, Timestamp } from "./Common.ts"
import { Flag, list, Text } from "./Params.ts"
import { Status } from "./Status.ts"

const Summary = Schema.Struct({ pending_requests_count: Count, pending_notifications_count: Count })

/** Treatment of notifications from accounts that may be unwanted. */
export const NotificationPolicy = Schema.Struct({
  for_not_following: PolicyDecision,
  for_not_followers: PolicyDecision,
  for_new_accounts: PolicyDecision,
  for_private_mentions: PolicyDecision,
  for_limited_accounts: PolicyDecision,
  for_bots: PolicyDecision,
  /** Beyond Mastodon: mentions by accounts that are not followed, in conversations in which the owner has no post. */
  for_new_conversations: PolicyDecision,
  summary: Summary
}).annotate({ identifier: "NotificationPolicy" })
export type NotificationPolicy = typeof NotificationPolicy.Type

/** The v1 policy, which cannot drop. */
export const NotificationPolicyV1 = Schema.Struct({
  filter_not_following: Schema.Boolean,
  filter_not_followers: Schema.Boolean,
  filter_new_accounts: Schema.Boolean,
  filter_private_mentions: Schema.Boolean,
  filter_bots: Schema.Boolean,
  summary: Summary
}).annotate({ identifier: "V1NotificationPolicy" })
export type NotificationPolicyV1 = typeof NotificationPolicyV1.Type

/** Policy keys beyond Mastodon's, which the instance document lists. */
export const policyExtensions = ["for_new_conversations"] as const

const decision = Schema.optionalKey(Schema.NullOr(Text))
/** `PATCH /api/v2/notifications/policy` */
export const PolicyRequest = Schema.Struct({
  notFollowing: decision,
  notFollowers: decision,
  newAccounts: decision,
  privateMentions: decision,
  limitedAccounts: decision,
  bots: decision,
  newConversations: decision
}).pipe(Schema.encodeKeys({
  notFollowing: "for_not_following",
  notFollowers: "for_not_followers",
  newAccounts: "for_new_accounts",
  privateMentions: "for_private_mentions",
  limitedAccounts: "for_limited_accounts",
  bots: "for_bots",
  newConversations: policyExtensions[0]
}))
export type PolicyRequest = typeof PolicyRequest.Type

const filtering = Schema.optionalKey(Flag)
/** `PATCH /api/v1/notifications/policy` */
export const PolicyV1Request = Schema.Struct({
  notFollowing: filtering,
  notFollowers: filtering,
  newAccounts: filtering,
  privateMentions: filtering,
  bots: filtering
}).pipe(Schema.encodeKeys({
  notFollowing: "filter_not_following",
  notFollowers: "filter_not_followers",
  newAccounts: "filter_new_accounts",
  privateMentions: "filter_private_mentions",
  bots: "filter_bots"
}))
export type PolicyV1Request = typeof PolicyV1Request.Type

/** An account whose notifications are filtered until the owner accepts it. */
export const NotificationRequest = Schema.Struct({
  id: Id,
  created_at: Timestamp,
  updated_at: Timestamp,
  notifications_count: Figure,
  account: Account,
  last_status: Schema.NullOr(Status)
}).annotate({ identifier: "NotificationRequest" })
export type NotificationRequest = typeof NotificationRequest.Type

/** `POST /api/v1/notifications/requests/accept` and `dismiss` */
export const RequestIds = Schema.Struct({ id: Schema.optionalKey(list(Text)) })

export const Merged = Schema.Struct({ merged: Schema.Boolean })
export type Merged = typeof Merged.Type
