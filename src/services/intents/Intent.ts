import { Effect, Schema } from "effect"
import { plainTypes } from "../NotificationTypes.ts"

/** The version in which details are written; those without one are of the first. */
const detailsVersion = 1

const Id = Schema.BigIntFromString
const OfStatus = { statusId: Schema.BigInt }

/** A new status, for homes, streams and whom it mentions. */
const Publish = Schema.TaggedStruct("publish", OfStatus)
export type Publish = typeof Publish.Type

/** An edited status; `editedAt` in milliseconds since 1970. */
const Edit = Schema.TaggedStruct("edit", { ...OfStatus, editedAt: Schema.optionalKey(Schema.Int) })
export type Edit = typeof Edit.Type

/** A status that shows the card of its link now. */
const CardShown = Schema.TaggedStruct("card", OfStatus)
export type CardShown = typeof CardShown.Type

/** A deleted status. */
const Delete = Schema.TaggedStruct("delete", OfStatus)
export type Delete = typeof Delete.Type

/** A poll that has ended, by its status. */
const PollEnd = Schema.TaggedStruct("poll", OfStatus)
export type PollEnd = typeof PollEnd.Type

/** A notification for one account; `from` is who it comes from, where that is not the account that tells. */
const Notify = Schema.TaggedStruct("notify", {
  type: Schema.Literals(plainTypes),
  to: Id,
  from: Schema.optionalKey(Id),
  statusId: Schema.optionalKey(Id)
})
export type Notify = typeof Notify.Type
export type NewNotification = Omit<Notify, "_tag">

/** The account that a notification comes from. */
export const senderOf = (accountId: bigint, { from = accountId }: NewNotification): bigint => from

/** A report, for moderators. */
const Report = Schema.TaggedStruct("report", { report: Id })
export type Report = typeof Report.Type

/**
 * Feeds that are out of date: homes and lists of `readers`, because of what they follow, block or mute now; `lists`, because
 * of their members; and, with `followers`, those of everybody here who follows the account, whose posts are seen again, or
 * a hashtag of them or who boosted them.
 */
const Homes = Schema.TaggedStruct("homes", {
  readers: Schema.Array(Id),
  lists: Schema.optionalKey(Schema.Array(Id)),
  followers: Schema.optionalKey(Schema.Boolean)
})
export type Homes = typeof Homes.Type

/** The account has become another one. */
const Move = Schema.TaggedStruct("move", { movedTo: Id })
export type Move = typeof Move.Type

/**
 * What leaves for the followers elsewhere and for whom it concerns: a post (or its change, or its end), the profile, a pin, a
 * hashtag on the profile (`target`, without #), a collection of accounts or one in it (`target`: ids of the collection, the item
 * and those in it who hear of it), that a reply (`target`) is no part of a thread, the move to the account with the URI `target`,
 * or that the account is gone.
 * `number` makes its id, where that takes one.
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

/** What an account has still to tell, by its kind. */
export const Intent = Schema.Union([Publish, Edit, CardShown, Delete, PollEnd, Notify, Report, Homes, Move, Deliver])
export type Intent = typeof Intent.Type

/** What a row holds of an intent; `details` is everything but the kind and the status, with its version. */
export const IntentColumns = Schema.Struct({
  kind: Schema.String,
  statusId: Schema.NullOr(Schema.BigInt),
  details: Schema.NullOr(Schema.Record(Schema.String, Schema.Unknown))
})

const encode = Schema.encodeSync(Intent)
const decode = Schema.decodeUnknownEffect(Intent)
const Version = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: detailsVersion }))
const decodeVersion = Schema.decodeUnknownEffect(Version)

/** An intent as the columns of its row; `details` as JSON. */
export const toColumns = (intent: Intent) => {
  const { _tag: kind, ...fields } = encode(intent)
  const { statusId, ...others } = { statusId: undefined, ...fields }
  // The status of a notification is not what the intent is about: several of them may be told side by side.
  const ofStatus = typeof statusId === "bigint"
  const details = ofStatus || statusId === undefined ? others : { ...others, statusId }
  return {
    kind,
    statusId: ofStatus ? statusId : null,
    details: Object.keys(details).length === 0 ? null : JSON.stringify({ version: detailsVersion, ...details })
  }
}

/** The intent of a row; fails for one that a later version of the program wrote. */
export const fromColumns = ({ details, kind, statusId }: typeof IntentColumns.Type) => {
  const { version = 1, ...fields } = details ?? {}
  // The first version had reports among notifications.
  const tag = kind === "notify" && "report" in fields ? "report" : kind
  const ofStatus = statusId === null ? fields : { ...fields, statusId }
  return Effect.andThen(decodeVersion(version), decode({ _tag: tag, ...ofStatus }))
}
