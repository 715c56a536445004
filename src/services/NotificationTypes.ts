import { Struct } from "effect"

/*
 * Every type of notification, once. What writes, reads, groups, shows and streams notifications follows from this table, and
 * so do the schemas of the wire. A type that is not in it is nobody's: rows of one are never read.
 */

interface NotificationKind {
  /** What it names beside its sender. A `severance` is what somebody lost when a whole server was blocked. */
  readonly subject: "nothing" | "status" | "report" | "severance" | "collection" | "warning" | "year"
  /** "others": nobody is told of what they did themselves. */
  readonly sender: "others" | "anybody"
  /**
   * Who may have it. "The willing" do not hide the sender, and may see the status; "the concerned" are told whatever
   * stands between the two; staff has a permission, and is told without being named.
   */
  readonly recipients: "the willing" | "the concerned" | { readonly staff: "manageReports" | "manageUsers" }
  /**
   * While what stands it is told: a condition in SQL over `n` (`account_id`, `from_id`, `status_id`), which holds the rows that
   * it asks until the notification is there. Without one it stands as long as its status does.
   */
  readonly standsWhile?: string
  /** Those of a status and half a day are one group (operations.md section 10). */
  readonly groupable: boolean
  /** The recipient's policy decides whether they hear of it; see `NotificationPolicy.ts`. */
  readonly filterable: boolean
  /** One that is filtered is a request of its sender to be heard. */
  readonly requests?: boolean
  /** Beyond Mastodon: only who names the type among those that they know is told. */
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
  /** Somebody posted whose posts the recipient wants to be told of. */
  status: { ...byStatus, filterable: false },
  reblog: {
    ...byStatus,
    groupable: true,
    standsWhile: exists("statuses", "reblog_of_id = n.status_id AND deleted_at IS NULL", "FOR SHARE")
  },
  favourite: { ...byStatus, groupable: true, standsWhile: exists("favourites", "status_id = n.status_id") },
  /** Somebody reacted with an emoji; the name is Pleroma's. It tells of the last emoji. */
  "pleroma:emoji_reaction": {
    ...byStatus,
    onDemand: true,
    standsWhile: exists("emoji_reactions", "status_id = n.status_id")
  },
  follow: { ...byAccount, groupable: true, standsWhile: exists("follows", isTarget) },
  "follow_request": { ...byAccount, standsWhile: exists("follow_requests", isTarget) },
  /** A poll has ended: its author is told, too. */
  poll: { ...byStatus, sender: "anybody", filterable: false },
  /** Somebody quotes the recipient. */
  quote: {
    ...byStatus,
    requests: true,
    standsWhile: exists("quotes", "status_id = n.status_id AND state = 'accepted'")
  },
  /** What a status of the recipient quotes was edited; the status is the recipient's. */
  "quoted_update": { ...byStatus, filterable: false },
  /** Somebody would reply to, favourite or reblog a status of the recipient, who decides about that; the status is the reply, or the recipient's. */
  "pending.reply": { ...byStatus, requests: true, standsWhile: pending("interaction_id") },
  "pending.favourite": { ...byStatus, standsWhile: pending("kind = 'favourite' AND status_id") },
  "pending.reblog": { ...byStatus, standsWhile: pending("kind = 'reblog' AND status_id") },
  /** The same of a quote; the status is that which quotes. */
  "pending.quote": {
    ...byStatus,
    requests: true,
    // Asked by somebody here, or by a request of another server that was not taken back.
    standsWhile: exists(
      "quotes",
      `status_id = n.status_id AND state = 'pending' AND (request_uri IS NOT NULL OR EXISTS (
        SELECT FROM statuses WHERE id = n.status_id AND local))`
    )
  },
  /** A status that the recipient reblogged was edited. */
  update: { ...byStatus, filterable: false },
  /** The recipient is in a collection of the sender from now on. */
  "added_to_collection": { ...byStatus, subject: "collection" },
  /** A collection in which the recipient is says something else now. */
  "collection_update": { ...byStatus, subject: "collection", filterable: false },
  /** Somebody signed up and can come in. */
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
  /** The recipient lost follows with a whole server; the sender is the recipient. */
  "severed_relationships": {
    subject: "severance",
    sender: "anybody",
    recipients: "the concerned",
    groupable: false,
    filterable: false
  },
  /** Moderators did something about the recipient, or warn; the sender is the recipient. */
  "moderation_warning": {
    subject: "warning",
    sender: "anybody",
    recipients: "the concerned",
    groupable: false,
    filterable: false
  },
  /** The report of a year is ready; the sender is the recipient. */
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

/** The types for which `holds` does. */
export const typesWhere = (holds: (kind: NotificationKind) => boolean): ReadonlyArray<NotificationType> =>
  notificationTypes.filter((type) => holds(kinds[type]))

type TypeWith<Column extends keyof NotificationKind, Value> = {
  [Type in NotificationType]: (typeof kinds)[Type] extends { readonly [C in Column]: Value } ? Type : never
}[NotificationType]

/** Types that name a status, or nothing: those that an intent can tell of. */
type PlainType = TypeWith<"subject", "nothing" | "status">
const isPlain = (type: NotificationType): type is PlainType =>
  kinds[type].subject === "nothing" || kinds[type].subject === "status"
export const plainTypes = notificationTypes.filter(isPlain)

export type CollectionType = TypeWith<"subject", "collection">
export type StatusType = TypeWith<"subject", "status">
export type StaffType = TypeWith<"recipients", { readonly staff: string }>

/** Whether what it names stands in `report_id`, beside the statuses that others name in `status_id`. */
export const isBesideStatuses = (type: NotificationType): boolean =>
  kinds[type].subject === "report" || kinds[type].subject === "collection"

/** The permission that staff needs for it. */
export const staffOf = (type: StaffType) => kinds[type].recipients.staff

/** Those that are shown only to who asks for them by name. */
export const onDemandTypes = typesWhere(({ onDemand }) => onDemand === true)

/** Those of which the recipient's policy decides, and of these the ones that are requests to be heard. */
export const filterableTypes = typesWhere(({ filterable }) => filterable)
export const requestTypes = typesWhere(({ requests }) => requests === true)
