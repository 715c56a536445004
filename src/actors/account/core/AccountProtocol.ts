import { Schema } from "effect"
import { ClusterSchema, Entity } from "effect/cluster"
import { Rpc } from "effect/rpc"
import { AnnouncementChange } from "../../../services/announcements/Announcement.ts"
import { CollectionChange } from "../../../services/collections/Collection.ts"
import {
  AccountIdFromString,
  AppIdFromString,
  IdFromString,
  MediaIdFromString,
  StatusIdFromString
} from "../../../services/database/Ids.ts"
import { persisted } from "../../../services/database/Persisted.ts"
import { Change } from "../../../services/events/Broadcast.ts"
import { ProfileChange } from "../../../services/identity/ProfileChange.ts"
import { CommandResponse } from "../../../services/intents/Commands.ts"
import { actionTypes, lastingTypes, statusActionTypes } from "../../../services/moderation/ActionTypes.ts"
import { ClientError } from "../../../services/runtime/Errors.ts"
import { QuotePolicy } from "../../../services/statuses/InteractionPolicy.ts"
import { NewPoll, Post, PostInput } from "../../../services/statuses/Post.ts"
import { PostCleanup } from "../../../services/statuses/PostCleanup.ts"
import { ContentType } from "../../../services/statuses/StoredStatus.ts"
import { Visibility } from "../../../services/statuses/Visibility.ts"

const OptionalFlag = Schema.optionalKey(Schema.Boolean)
const NullableText = Schema.NullOr(Schema.String)
const Target = { target: AccountIdFromString }
/**
 * Version of a fetched collection of a remote account: the fetch time in milliseconds since 1970, and the account's
 * change counter then (`remote_actors.featured_changes`).
 */
const Reading = { readAt: Schema.Number, changes: Schema.Int }
const OfCollection = { collectionId: IdFromString }
const OnAnnouncement = { announcementId: IdFromString }
const OnStatus = { statusId: StatusIdFromString }

/** All commands of accounts: everything that others see or that has consequences. */
export const Command = Schema.Union([
  Schema.TaggedStruct("Publish", { post: Post }),
  Schema.TaggedStruct("Edit", {
    ...OnStatus,
    text: Schema.String,
    /** Absent or null: unchanged. */
    contentType: Schema.optionalKey(Schema.NullOr(ContentType)),
    ...PostInput.fields,
    /** Accounts that may quote the status; absent: unchanged. */
    quoteApprovalPolicy: Schema.optionalKey(Schema.NullOr(QuotePolicy)),
    /** Accounts that may reply to the status, favourite and reblog it; absent: unchanged. */
    interactionPolicy: Schema.optionalKey(Schema.NullOr(Schema.Array(Schema.String))),
    /** Absent: unchanged. */
    mediaIds: Schema.optionalKey(Schema.Array(MediaIdFromString)),
    /** Absent: unchanged; null removes the poll. */
    poll: Schema.optionalKey(Schema.NullOr(NewPoll)),
    /** New descriptions and focal points of the status's files. */
    media: Schema.optionalKey(Schema.Array(Schema.Struct({
      id: MediaIdFromString,
      description: Schema.optionalKey(NullableText),
      focus: Schema.optionalKey(Schema.Struct({ x: Schema.Number, y: Schema.Number })),
      /** A stored picture that replaces the preview shown before playback. */
      preview: Schema.optionalKey(Schema.Struct({
        previewName: Schema.String,
        size: Schema.Struct({
          width: Schema.Number,
          height: Schema.Number,
          size: Schema.String,
          aspect: Schema.Number
        }),
        blurhash: Schema.String,
        colors: Schema.Struct({ background: Schema.String, foreground: Schema.String, accent: Schema.String })
      }))
    })))
  }),
  /** The status's files stay available for a redraft, unless `deleteMedia`. */
  Schema.TaggedStruct("Delete", { ...OnStatus, deleteMedia: OptionalFlag }),
  /** `scheduledAt` in milliseconds since 1970. */
  Schema.TaggedStruct("Schedule", { post: Post, scheduledAt: Schema.Int }),
  Schema.TaggedStruct("Reschedule", { scheduledId: StatusIdFromString, scheduledAt: Schema.Int }),
  /** Saves a draft; a `draftId` of null creates one. */
  Schema.TaggedStruct("SaveDraft", { draftId: Schema.NullOr(StatusIdFromString), post: Post }),
  Schema.TaggedStruct("DeleteDraft", { draftId: StatusIdFromString }),
  /** Publishes a draft through an app, or schedules it if a time is given. */
  Schema.TaggedStruct("PublishDraft", {
    draftId: StatusIdFromString,
    applicationId: Schema.NullOr(AppIdFromString),
    scheduledAt: Schema.NullOr(Schema.Int)
  }),
  Schema.TaggedStruct("CancelScheduled", { scheduledId: StatusIdFromString }),
  /** Makes a scheduled post a draft with the same id. */
  Schema.TaggedStruct("Unschedule", { scheduledId: StatusIdFromString }),
  Schema.TaggedStruct("Favourite", {
    ...OnStatus,
    /** Favourite of an earlier account, whose server sent the Like: nobody is notified, and no Like is sent. */
    imported: OptionalFlag,
    /** Time that gives an imported favourite its place in the list, in milliseconds; now by default. */
    millis: Schema.optionalKey(Schema.Int)
  }),
  Schema.TaggedStruct("Unfavourite", OnStatus),
  /** `name` is a Unicode emoji, a `shortcode`, or `shortcode@domain` for an emoji that is on the status already. */
  Schema.TaggedStruct("React", { ...OnStatus, name: Schema.String }),
  Schema.TaggedStruct("Unreact", { ...OnStatus, name: Schema.String }),
  Schema.TaggedStruct("Reblog", { ...OnStatus, visibility: Schema.NullOr(Visibility) }),
  Schema.TaggedStruct("Unreblog", OnStatus),
  /** `choices` are indexes of the poll's options. */
  Schema.TaggedStruct("Vote", { ...OnStatus, choices: Schema.Array(Schema.Int) }),
  /** Revokes the quote of one of the account's statuses by another status. */
  Schema.TaggedStruct("RevokeQuote", { ...OnStatus, quotingId: StatusIdFromString }),
  /** Removes a reply to one of the account's statuses from its thread. */
  Schema.TaggedStruct("RemoveReply", { ...OnStatus, replyId: StatusIdFromString }),
  Schema.TaggedStruct("SetQuotePolicy", { ...OnStatus, policy: QuotePolicy }),
  /** Forwards a report to these servers, or to the reported account's own; the account is a moderator. */
  Schema.TaggedStruct("ForwardReport", { reportId: IdFromString, domains: Schema.Array(Schema.String) }),
  /** Decides a post that a spam rule holds for review. */
  Schema.TaggedStruct("ReviewPost", { ...OnStatus, by: AccountIdFromString, approved: Schema.Boolean }),
  /** Approves a request to interact with a status of the account; `RejectInteraction` refuses it. */
  Schema.TaggedStruct("AuthorizeInteraction", { requestId: IdFromString }),
  Schema.TaggedStruct("RejectInteraction", { requestId: IdFromString }),
  /** The consent to a quote by a post of the account has ended. */
  Schema.TaggedStruct("QuoteEnded", { ...OnStatus, authorization: Schema.String }),
  /** The consent that a reply or reblog of the account claims was verified: `holds` is the result. */
  Schema.TaggedStruct("InteractionKnown", { requestId: IdFromString, holds: Schema.Boolean }),
  Schema.TaggedStruct("Pin", OnStatus),
  Schema.TaggedStruct("Unpin", OnStatus),
  /** A hashtag for the account's profile, without the #. */
  Schema.TaggedStruct("FeatureTag", { name: Schema.String }),
  Schema.TaggedStruct("UnfeatureTag", { name: Schema.String }),
  /** `name` is a Unicode emoji or a shortcode. */
  Schema.TaggedStruct("ReactToAnnouncement", { ...OnAnnouncement, name: Schema.String }),
  Schema.TaggedStruct("UnreactToAnnouncement", { ...OnAnnouncement, name: Schema.String }),
  /** Staff announcements; refused to other accounts. */
  Schema.TaggedStruct("CreateAnnouncement", { announcement: AnnouncementChange, unpublished: Schema.Boolean }),
  Schema.TaggedStruct("UpdateAnnouncement", { ...OnAnnouncement, change: AnnouncementChange }),
  Schema.TaggedStruct("PublishAnnouncement", OnAnnouncement),
  Schema.TaggedStruct("UnpublishAnnouncement", OnAnnouncement),
  Schema.TaggedStruct("DeleteAnnouncement", OnAnnouncement),
  /** A hashtag whose public posts appear in the home timeline, without the #. */
  Schema.TaggedStruct("FollowTag", { name: Schema.String }),
  Schema.TaggedStruct("UnfollowTag", { name: Schema.String }),
  Schema.TaggedStruct("Follow", {
    ...Target,
    reblogs: Schema.NullOr(Schema.Boolean),
    notify: Schema.NullOr(Schema.Boolean),
    languages: Schema.NullOr(Schema.Array(Schema.String)),
    /** Follow of an imported file, which does not count against the limit of follows. */
    imported: OptionalFlag
  }),
  Schema.TaggedStruct("Unfollow", Target),
  /** Ends a follow that only another server believes to exist. */
  Schema.TaggedStruct("DisownFollow", Target),
  Schema.TaggedStruct("AuthorizeFollow", Target),
  Schema.TaggedStruct("RejectFollow", Target),
  Schema.TaggedStruct("RemoveFollower", Target),
  Schema.TaggedStruct("Block", Target),
  Schema.TaggedStruct("Unblock", Target),
  /** `seconds` 0 mutes indefinitely. */
  Schema.TaggedStruct("Mute", { ...Target, notifications: Schema.Boolean, replies: OptionalFlag, seconds: Schema.Int }),
  Schema.TaggedStruct("Unmute", Target),
  Schema.TaggedStruct("Endorse", Target),
  Schema.TaggedStruct("Unendorse", Target),
  /** Creates a collection of recommended accounts, with its first members. */
  Schema.TaggedStruct("CreateCollection", { said: CollectionChange, accountIds: Schema.Array(AccountIdFromString) }),
  Schema.TaggedStruct("UpdateCollection", { ...OfCollection, said: CollectionChange }),
  Schema.TaggedStruct("DeleteCollection", OfCollection),
  Schema.TaggedStruct("AddToCollection", { ...OfCollection, ...Target }),
  Schema.TaggedStruct("RemoveFromCollection", { ...OfCollection, itemId: IdFromString }),
  /** Removes the account from another account's collection. */
  Schema.TaggedStruct("LeaveCollection", { ...OfCollection, itemId: IdFromString }),
  /** `domain` is normalised. */
  Schema.TaggedStruct("BlockDomain", { domain: Schema.String }),
  Schema.TaggedStruct("UnblockDomain", { domain: Schema.String }),
  Schema.TaggedStruct("Report", {
    ...Target,
    category: Schema.Literals(["spam", "legal", "violation", "other"]),
    comment: Schema.String,
    statusIds: Schema.Array(StatusIdFromString),
    ruleIds: Schema.Array(IdFromString),
    collectionIds: Schema.optionalKey(Schema.Array(IdFromString)),
    forward: Schema.Boolean,
    forwardDomains: Schema.Array(Schema.String)
  }),
  /** A moderation measure against the account that runs the command. */
  Schema.TaggedStruct("Moderate", {
    measure: Schema.Literals(["suspend", "silence", "sensitize"]),
    stands: Schema.Boolean
  }),
  /** A moderation action against the account, with a strike that gives the reason. */
  Schema.TaggedStruct("TakeAction", {
    by: AccountIdFromString,
    type: Schema.Literals(actionTypes),
    text: Schema.String,
    reportId: Schema.NullOr(IdFromString),
    /** True if the account is notified; mail is sent by the command's caller. */
    tells: Schema.Boolean
  }),
  Schema.TaggedStruct("LiftAction", { by: AccountIdFromString, type: Schema.Literals(lastingTypes) }),
  /** A moderation action against posts and collections of the account, with a strike. */
  Schema.TaggedStruct("ModerateStatuses", {
    by: AccountIdFromString,
    type: Schema.Literals(statusActionTypes),
    statusIds: Schema.Array(StatusIdFromString),
    collectionIds: Schema.optionalKey(Schema.Array(IdFromString)),
    text: Schema.String,
    reportId: Schema.NullOr(IdFromString),
    tells: Schema.Boolean
  }),
  /** A staff decision on the account's appeal against a strike. */
  Schema.TaggedStruct("DecideAppeal", { by: AccountIdFromString, appealId: IdFromString, approved: Schema.Boolean }),
  Schema.TaggedStruct("UpdateProfile", { change: ProfileChange }),
  /** Sets the policy for the automated deletion of the account's old posts. */
  Schema.TaggedStruct("SetPostCleanup", { policy: PostCleanup }),
  /**
   * Deletes the account for good; its name is not reused. `by` is a moderator; absent if the operator deletes it, or, with
   * `own`, its user.
   */
  Schema.TaggedStruct("DeleteAccount", { by: Schema.optionalKey(AccountIdFromString), own: OptionalFlag }),
  /**
   * A post of the account as JSON, as its origin serves it. `asked`: the post was fetched on request, so it is kept
   * even if it concerns no local account.
   */
  Schema.TaggedStruct("Import", { document: Schema.String, asked: Schema.Boolean }),
  /** Pinned statuses of a remote account, in display order. */
  Schema.TaggedStruct("Feature", { ...Reading, statusIds: Schema.Array(StatusIdFromString) }),
  /** Featured hashtags of a remote account. */
  Schema.TaggedStruct("FeatureTags", { ...Reading, names: Schema.Array(Schema.String) }),
  /** A remote account's collections of accounts, as JSON from its server. */
  Schema.TaggedStruct("KeepCollections", { documents: Schema.Array(Schema.String) }),
  /** A mentioned account that was unknown when the post arrived is known now. */
  Schema.TaggedStruct("MentionKnown", OnStatus),
  /** The quoted post is stored now, or the claimed consent to the quote was verified. */
  Schema.TaggedStruct("QuoteKnown", {
    ...OnStatus,
    authorization: Schema.optionalKey(Schema.Struct({ uri: Schema.String, holds: Schema.Boolean }))
  }),
  /** A post of the account that its origin no longer has. */
  Schema.TaggedStruct("Withdraw", { uri: Schema.String }),
  /** Moves to another account, which must list this one among its aliases. */
  Schema.TaggedStruct("Move", Target),
  /** Adds or removes an actor's id as an alias of the account. */
  Schema.TaggedStruct("Alias", { uri: Schema.String, present: Schema.Boolean }),
  /** Applies the move of an account that this one follows, blocks or mutes. */
  Schema.TaggedStruct("CarryOver", { from: AccountIdFromString, to: AccountIdFromString }),
  /** Sends the follow of a remote account once more, whose server was reinstalled. */
  Schema.TaggedStruct("RepeatFollow", Target)
])
export type Command = typeof Command.Type

/** Response of a command, with the changes that it made; the caller's node may not have received their broadcast yet. */
const Done = Schema.Struct({ ...CommandResponse.fields, changes: Schema.optionalKey(Schema.Array(Change)) })

/** Versioned form of a command in `account_intents.details`. */
export const PersistedCommand = persisted(Command, 1)

/** Maximum pending commands of one account; beyond it callers are told to retry. */
export const accountMailboxMax = 1_024

/**
 * The actor of one account; its entity id is the account's id as a decimal string. `Do` runs a command once for each
 * `id`, and never after `until` (milliseconds since 1970), when its caller was told to retry. `Wake` says that intents
 * or due entries exist, `Receive` that inbound activities arrived; both may be lost.
 */
export const Account = Entity.make("Account", [
  Rpc.make("Do", {
    payload: { id: Schema.String, command: Command, until: Schema.Int },
    success: Done,
    error: ClientError
  }),
  Rpc.make("Wake"),
  Rpc.make("Receive")
]).annotateRpcs(ClusterSchema.Uninterruptible, "server")
