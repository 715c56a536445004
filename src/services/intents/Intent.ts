import { Effect, Schema } from "effect"
import { plainTypes } from "../notifications/NotificationTypes.ts"

/** Version of written details; details without a version have version 1. */
const detailsVersion = 1

const Id = Schema.BigIntFromString
const OfStatus = { statusId: Schema.BigInt }

/** A new status, for home feeds, streams and mentioned accounts. */
const Publish = Schema.TaggedStruct("publish", OfStatus)
export type Publish = typeof Publish.Type

/** An edited status; `editedAt` in milliseconds since 1970. */
const Edit = Schema.TaggedStruct("edit", { ...OfStatus, editedAt: Schema.optionalKey(Schema.Int) })
export type Edit = typeof Edit.Type

/** A status whose preview card has become available. */
const CardShown = Schema.TaggedStruct("card", OfStatus)
export type CardShown = typeof CardShown.Type

/** A deleted status. */
const Delete = Schema.TaggedStruct("delete", OfStatus)
export type Delete = typeof Delete.Type

/** A poll that has ended, by its status. */
const PollEnd = Schema.TaggedStruct("poll", OfStatus)
export type PollEnd = typeof PollEnd.Type

/** A notification for one account; `from` is the sender if not the intent's account. */
const Notify = Schema.TaggedStruct("notify", {
  type: Schema.Literals(plainTypes),
  to: Id,
  from: Schema.optionalKey(Id),
  statusId: Schema.optionalKey(Id)
})
export type Notify = typeof Notify.Type
export type NewNotification = Omit<Notify, "_tag">

/** Returns the account that a notification comes from. */
export const senderOf = (accountId: bigint, { from = accountId }: NewNotification): bigint => from

/** A report, for moderators. */
const Report = Schema.TaggedStruct("report", { report: Id })
export type Report = typeof Report.Type

/**
 * Stale feeds: homes and lists of `readers`, whose follows, blocks or mutes changed; `lists`, whose members changed;
 * with `followers`, feeds of local followers of the account, of its hashtags and of its boosters, as its posts are
 * visible again.
 */
const StaleFeeds = Schema.TaggedStruct("homes", {
  readers: Schema.Array(Id),
  lists: Schema.optionalKey(Schema.Array(Id)),
  followers: Schema.optionalKey(Schema.Boolean)
})
export type StaleFeeds = typeof StaleFeeds.Type

/** The account was suspended or disabled: caches forget its tokens, and its streams end. */
const KeptOut = Schema.TaggedStruct("kept_out", {})
export type KeptOut = typeof KeptOut.Type

/** The account has moved to another one; its followers are recorded before they are told. */
const RecordFollowers = Schema.TaggedStruct("record_followers", { movedTo: Id })
export type RecordFollowers = typeof RecordFollowers.Type

/** The account has moved to another one: local followers follow that one, and blocks and mutes are copied. */
const Move = Schema.TaggedStruct("move", { movedTo: Id })
export type Move = typeof Move.Type

/**
 * A delivery to remote followers and other recipients: a post or its change or deletion, the profile, a pin, a hashtag
 * of the profile (`target`, without #), a collection of accounts or one of its items (`target`: ids of the collection, the
 * item and the members to notify), the rejection of a reply (`target`), the move to the account with the URI `target`,
 * or the account's deletion. `number` makes the activity's id if needed.
 */
const Deliver = Schema.TaggedStruct("deliver", {
  statusId: Schema.optionalKey(Schema.BigInt),
  leaves: Schema.Literals([
    "Create",
    "Update",
    "Delete",
    "Profile",
    "Pin",
    "Unpin",
    "FeatureTag",
    "UnfeatureTag",
    "AddCollection",
    "UpdateCollection",
    "RemoveCollection",
    "AddItem",
    "RemoveItem",
    "RejectReply",
    "Move",
    "Farewell"
  ]),
  number: Schema.String,
  target: Schema.optionalKey(Schema.String)
})
export type Deliver = typeof Deliver.Type
export type OutgoingActivity = Omit<Deliver, "_tag" | "statusId">

/** Remaining work of an account after a commit, by kind. */
export const Intent = Schema.Union([
  Publish,
  Edit,
  CardShown,
  Delete,
  PollEnd,
  Notify,
  Report,
  StaleFeeds,
  KeptOut,
  RecordFollowers,
  Move,
  Deliver
])
export type Intent = typeof Intent.Type

/** Columns of an intent's row; `details` has everything but the kind and the status, with a version. */
export const IntentColumns = Schema.Struct({
  kind: Schema.String,
  statusId: Schema.NullOr(Schema.BigInt),
  details: Schema.NullOr(Schema.Record(Schema.String, Schema.Unknown))
})

const encode = Schema.encodeSync(Intent)
const decode = Schema.decodeUnknownEffect(Intent)
const Version = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: detailsVersion }))
const decodeVersion = Schema.decodeUnknownEffect(Version)

/** Encodes an intent as columns; `details` is JSON. */
export const toColumns = (intent: Intent) => {
  const { _tag: kind, ...fields } = encode(intent)
  const { statusId, ...others } = { statusId: undefined, ...fields }
  // A notification's status is not its subject: several may be written concurrently.
  const ofStatus = typeof statusId === "bigint"
  const details = ofStatus || statusId === undefined ? others : { ...others, statusId }
  return {
    kind,
    statusId: ofStatus ? statusId : null,
    details: Object.keys(details).length === 0 ? null : JSON.stringify({ version: detailsVersion, ...details })
  }
}

/** Decodes a row's intent; fails for one that a later version wrote. */
export const fromColumns = ({ details, kind, statusId }: typeof IntentColumns.Type) => {
  const { version = 1, ...fields } = details ?? {}
  // Version 1 stored reports as notifications.
  const tag = kind === "notify" && "report" in fields ? "report" : kind
  const ofStatus = statusId === null ? fields : { ...fields, statusId }
  return Effect.andThen(decodeVersion(version), decode({ _tag: tag, ...ofStatus }))
}
