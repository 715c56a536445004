import { Schema } from "effect"
import { AppealState, StrikeAction } from "../../services/moderation/Strike.ts"
import { notificationTypes } from "../../services/notifications/NotificationTypes.ts"
import { Account, PartialAccountWithAvatar } from "./Account.ts"
import { Collection } from "./Collection.ts"
import { Count, Html, Id, IdNumber, Timestamp, Url } from "./Common.ts"
import { Text } from "./Params.ts"
import { Report } from "./Report.ts"
import { Status } from "./Status.ts"

const NotificationType = Schema.Literals(notificationTypes)

/** Relationships that the user lost when a whole server was blocked. */
export const RelationshipSeveranceEvent = Schema.Struct({
  id: Id,
  type: Schema.Literals(["domain_block", "user_domain_block", "account_suspension"]),
  purged: Schema.Boolean,
  target_name: Schema.String,
  followers_count: Count,
  following_count: Count,
  created_at: Timestamp
}).annotate({ identifier: "RelationshipSeveranceEvent" })
export type RelationshipSeveranceEvent = typeof RelationshipSeveranceEvent.Type

/** Text that an app shows for a type that it does not know. */
const NotificationFallback = Schema.Struct({
  title: Html,
  summary: Schema.NullOr(Html),
  description: Schema.Null
}).annotate({ identifier: "NotificationFallback" })
export type NotificationFallback = typeof NotificationFallback.Type

/** A moderation action against the recipient, or a warning only. */
export const AccountWarning = Schema.Struct({
  id: Id,
  action: StrikeAction,
  text: Schema.String,
  status_ids: Schema.NullOr(Schema.Array(Id)),
  created_at: Timestamp,
  target_account: Account,
  appeal: Schema.NullOr(Schema.Struct({ text: Schema.String, state: AppealState }))
}).annotate({ identifier: "AccountWarning" })
export type AccountWarning = typeof AccountWarning.Type

/** `POST /api/v1/strikes/:id/appeal` */
export const AppealWrite = Schema.Struct({ text: Schema.optionalKey(Text) })

/** Year of an annual report. */
const AnnualReportEvent = Schema.Struct({ year: Schema.String })

/** Emoji of a reaction notification. */
const reacted = {
  emoji: Schema.optionalKey(Schema.String),
  emoji_url: Schema.optionalKey(Schema.NullOr(Url))
}

export const Notification = Schema.Struct({
  id: Id,
  type: NotificationType,
  created_at: Timestamp,
  group_key: Schema.String,
  account: Account,
  /** True if the notification is filtered until its owner accepts it; otherwise absent. */
  filtered: Schema.optionalKey(Schema.Literal(true)),
  status: Schema.optionalKey(Status),
  ...reacted,
  event: Schema.optionalKey(RelationshipSeveranceEvent),
  report: Schema.optionalKey(Report),
  moderation_warning: Schema.optionalKey(AccountWarning),
  collection: Schema.optionalKey(Collection),
  annual_report: Schema.optionalKey(AnnualReportEvent),
  fallback: Schema.optionalKey(NotificationFallback)
}).annotate({ identifier: "Notification" })
export type Notification = typeof Notification.Type

export const NotificationGroup = Schema.Struct({
  group_key: Schema.String,
  notifications_count: Count,
  type: NotificationType,
  /** A number here, which loses digits in clients that parse it as a JavaScript number; they use `page_max_id`. */
  most_recent_notification_id: IdNumber,
  page_min_id: Schema.optionalKey(Id),
  page_max_id: Schema.optionalKey(Id),
  latest_page_notification_at: Schema.optionalKey(Timestamp),
  sample_account_ids: Schema.Array(Id),
  status_id: Schema.optionalKey(Schema.NullOr(Id)),
  ...reacted,
  event: Schema.optionalKey(RelationshipSeveranceEvent),
  report: Schema.optionalKey(Report),
  moderation_warning: Schema.optionalKey(AccountWarning),
  collection: Schema.optionalKey(Collection),
  annual_report: Schema.optionalKey(AnnualReportEvent),
  fallback: Schema.optionalKey(NotificationFallback)
}).annotate({ identifier: "NotificationGroup" })
export type NotificationGroup = typeof NotificationGroup.Type

export const GroupedNotificationsResults = Schema.Struct({
  accounts: Schema.Array(Account),
  partial_accounts: Schema.optionalKey(Schema.Array(PartialAccountWithAvatar)),
  statuses: Schema.Array(Status),
  notification_groups: Schema.Array(NotificationGroup)
}).annotate({ identifier: "GroupedNotificationsResults" })
export type GroupedNotificationsResults = typeof GroupedNotificationsResults.Type

export const UnreadCount = Schema.Struct({ count: Count }).annotate({ identifier: "UnreadCount" })
export type UnreadCount = typeof UnreadCount.Type
