import { Struct } from "effect"

/*
 * The table of all notification types. Writing, reading, grouping, rendering and streaming follow from it, and so do
 * the wire schemas. Rows of a type that is not in it are never read.
 */

interface NotificationKind {
  /** Object of the notification. A `severance` is the follows lost to a domain block. */
  readonly subject: "nothing" | "status" | "report" | "severance" | "collection" | "warning" | "year"
  /** "others": accounts are not notified of their own acts. */
  readonly sender: "others" | "anybody"
  /**
   * Recipients. "the willing" do not hide the sender and may see the status; "the concerned" are notified regardless of
   * that; for staff types, all staff with the permission.
   */
  readonly recipients: "the willing" | "the concerned" | { readonly staff: "manageReports" | "manageUsers" }
  /**
   * SQL condition under which the notification is true, over `n` (`account_id`, `from_id`, `status_id`); locks the rows
   * that it reads until the notification is written. Without it, the notification is true as long as its status exists.
   */
  readonly validWhile?: string
  /** Grouped by status and half a day (operations.md section 10). */
  readonly groupable: boolean
  /** Subject to the recipient's policy; see `NotificationPolicy.ts`. */
  readonly filterable: boolean
  /** If filtered, it becomes a notification request of its sender. */
  readonly requests?: boolean
  /** Beyond Mastodon: shown only to clients that list the type. */
  readonly onDemand?: boolean
}

const exists = (table: string, condition: string, lock: "FOR KEY SHARE" | "FOR SHARE" = "FOR KEY SHARE") =>
  `EXISTS (SELECT FROM ${table} WHERE account_id = n.from_id AND ${condition} OFFSET 0 ${lock})`
const pending = (subject: string) => exists("interaction_requests", `${subject} = n.status_id AND state = 'pending'`)
const isTarget = "target_account_id = n.account_id"

const byStatus = {
  subject: "status",
  sender: "others",
  recipients: "the willing",
  groupable: false,
  filterable: true
} as const
const byAccount = { ...byStatus, subject: "nothing" } as const

const kinds = {
  mention: { ...byStatus, requests: true },
  /** A new post of an account that the recipient has post notifications for. */
  status: { ...byStatus, filterable: false },
  reblog: {
    ...byStatus,
    groupable: true,
    validWhile: exists("statuses", "reblog_of_id = n.status_id AND deleted_at IS NULL", "FOR SHARE")
  },
  favourite: { ...byStatus, groupable: true, validWhile: exists("favourites", "status_id = n.status_id") },
  /** An emoji reaction; the name is Pleroma's. Shows the latest emoji. */
  "pleroma:emoji_reaction": {
    ...byStatus,
    onDemand: true,
    validWhile: exists("emoji_reactions", "status_id = n.status_id")
  },
  follow: { ...byAccount, groupable: true, validWhile: exists("follows", isTarget) },
  "follow_request": { ...byAccount, validWhile: exists("follow_requests", isTarget) },
  /** A poll has ended; its author is notified, too. */
  poll: { ...byStatus, sender: "anybody", filterable: false },
  /** A quote of a status of the recipient. */
  quote: {
    ...byStatus,
    requests: true,
    validWhile: exists("quotes", "status_id = n.status_id AND state = 'accepted'")
  },
  /** A status that one of the recipient's statuses quotes was edited; the status is the recipient's. */
  "quoted_update": { ...byStatus, filterable: false },
  /**
   * A reply, favourite or boost that waits for the recipient's approval; the status is the reply, or the recipient's
   * status.
   */
  "pending.reply": { ...byStatus, requests: true, validWhile: pending("interaction_id") },
  "pending.favourite": { ...byStatus, validWhile: pending("kind = 'favourite' AND status_id") },
  "pending.reblog": { ...byStatus, validWhile: pending("kind = 'reblog' AND status_id") },
  /** A quote that waits for the recipient's approval; the status is the quoting one. */
  "pending.quote": {
    ...byStatus,
    requests: true,
    // Requested by a local account, or by a remote request that was not withdrawn.
    validWhile: exists(
      "quotes",
      `status_id = n.status_id AND state = 'pending' AND (request_uri IS NOT NULL OR EXISTS (
        SELECT FROM statuses WHERE id = n.status_id AND local))`
    )
  },
  /** A status that the recipient boosted was edited. */
  update: { ...byStatus, filterable: false },
  /** The recipient was added to a collection of the sender. */
  "added_to_collection": { ...byStatus, subject: "collection" },
  /** A collection that includes the recipient was changed. */
  "collection_update": { ...byStatus, subject: "collection", filterable: false },
  /** A user signed up and can sign in. */
  "admin.sign_up": {
    subject: "nothing",
    sender: "others",
    recipients: { staff: "manageUsers" },
    groupable: true,
    filterable: false
  },
  "admin.report": {
    subject: "report",
    sender: "others",
    recipients: { staff: "manageReports" },
    groupable: false,
    filterable: false
  },
  /** The recipient lost follows to a domain block; the sender is the recipient. */
  "severed_relationships": {
    subject: "severance",
    sender: "anybody",
    recipients: "the concerned",
    groupable: false,
    filterable: false
  },
  /** A moderation action or a warning about the recipient; the sender is the recipient. */
  "moderation_warning": {
    subject: "warning",
    sender: "anybody",
    recipients: "the concerned",
    groupable: false,
    filterable: false
  },
  /** An annual report is ready; the sender is the recipient. */
  "annual_report": {
    subject: "year",
    sender: "anybody",
    recipients: "the concerned",
    groupable: false,
    filterable: false
  }
} satisfies Record<string, NotificationKind>

export type NotificationType = keyof typeof kinds

export const notificationTypes: ReadonlyArray<NotificationType> = Struct.keys(kinds)

export const kindOf = (type: NotificationType): NotificationKind => kinds[type]

/** Returns the types for which `holds` returns true. */
export const typesWhere = (holds: (kind: NotificationKind) => boolean): ReadonlyArray<NotificationType> =>
  notificationTypes.filter((type) => holds(kinds[type]))

type TypeWith<Column extends keyof NotificationKind, Value> = {
  [Type in NotificationType]: (typeof kinds)[Type] extends { readonly [C in Column]: Value } ? Type : never
}[NotificationType]

/** Types with a status or no object: those that an intent can carry. */
type PlainType = TypeWith<"subject", "nothing" | "status">
const isPlain = (type: NotificationType): type is PlainType =>
  kinds[type].subject === "nothing" || kinds[type].subject === "status"
export const plainTypes = notificationTypes.filter(isPlain)

export type CollectionType = TypeWith<"subject", "collection">
export type StatusType = TypeWith<"subject", "status">
export type StaffType = TypeWith<"recipients", { readonly staff: string }>

/** Returns true if the type's object is in `report_id` rather than in `status_id`. */
export const usesReportId = (type: NotificationType): boolean =>
  kinds[type].subject === "report" || kinds[type].subject === "collection"

/** Returns the permission that staff need for the type. */
export const staffOf = (type: StaffType) => kinds[type].recipients.staff

/** Types shown only to clients that list them. */
export const onDemandTypes = typesWhere(({ onDemand }) => onDemand === true)

/** Types subject to the recipient's policy, and those that become notification requests if filtered. */
export const filterableTypes = typesWhere(({ filterable }) => filterable)
export const requestTypes = typesWhere(({ requests }) => requests === true)
