import { Schema } from "effect"
import { ClusterSchema, Entity } from "effect/cluster"
import { Rpc } from "effect/rpc"
import { AnnouncementChange } from "../../services/announcements/Announcement.ts"
import { Change } from "../../services/Broadcast.ts"
import { CollectionChange } from "../../services/collections/Collection.ts"
import { ClientError } from "../../services/Errors.ts"
import { ProfileChange } from "../../services/identity/ProfileChange.ts"
import {
  AccountIdFromString,
  AppIdFromString,
  IdFromString,
  MediaIdFromString,
  StatusIdFromString
} from "../../services/Ids.ts"
import { CommandAnswer } from "../../services/intents/Commands.ts"
import { actionTypes, lastingTypes, statusActionTypes } from "../../services/moderation/ActionTypes.ts"
import { persisted } from "../../services/Persisted.ts"
import { QuotePolicy } from "../../services/statuses/InteractionPolicy.ts"
import { NewPoll, Post, Said } from "../../services/statuses/Post.ts"
import { ContentType } from "../../services/statuses/StoredStatus.ts"
import { Visibility } from "../../services/statuses/Visibility.ts"

const OptionalFlag = Schema.optionalKey(Schema.Boolean)
const NullableText = Schema.NullOr(Schema.String)
const Target = { target: AccountIdFromString }
/**
 * A collection of a remote account as it was at a time, in milliseconds since 1970, after so many changes that the account had
 * told of by then (`remote_actors.featured_changes`).
 */
const Reading = { readAt: Schema.Number, changes: Schema.Int }
const OfCollection = { collectionId: IdFromString }
const OnAnnouncement = { announcementId: IdFromString }
const OnStatus = { statusId: StatusIdFromString }

/** Everything that an account does and that others see or that has consequences. */
export const Command = Schema.Union([
  Schema.TaggedStruct("Publish", { post: Post }),
  Schema.TaggedStruct("Edit", {
    ...OnStatus,
    text: Schema.String,
    /** Absent, or null: as it was written before. */
    contentType: Schema.optionalKey(Schema.NullOr(ContentType)),
    ...Said.fields,
    /** Who may quote it; absent: whoever might before. */
    quoteApprovalPolicy: Schema.optionalKey(Schema.NullOr(QuotePolicy)),
    /** Who may reply to it, favourite and reblog it; absent: whoever might before. */
    interactionPolicy: Schema.optionalKey(Schema.NullOr(Schema.Array(Schema.String))),
    /** Absent: the files stay as they are. */
    mediaIds: Schema.optionalKey(Schema.Array(MediaIdFromString)),
    /** Absent: the poll stays as it is; null removes it. */
    poll: Schema.optionalKey(Schema.NullOr(NewPoll)),
    /** New words about files of the status. */
    media: Schema.optionalKey(Schema.Array(Schema.Struct({
      id: MediaIdFromString,
      description: Schema.optionalKey(NullableText),
      focus: Schema.optionalKey(Schema.Struct({ x: Schema.Number, y: Schema.Number })),
      /** A stored picture in the place of the preview that is shown before it is played. */
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
  /** Its files wait for another post, unless `deleteMedia`. */
  Schema.TaggedStruct("Delete", { ...OnStatus, deleteMedia: OptionalFlag }),
  /** `scheduledAt` in milliseconds since 1970. */
  Schema.TaggedStruct("Schedule", { post: Post, scheduledAt: Schema.Int }),
  Schema.TaggedStruct("Reschedule", { scheduledId: StatusIdFromString, scheduledAt: Schema.Int }),
  /** A post that is not finished; null makes a new one. */
  Schema.TaggedStruct("SaveDraft", { draftId: Schema.NullOr(StatusIdFromString), post: Post }),
  Schema.TaggedStruct("DeleteDraft", { draftId: StatusIdFromString }),
  /** Publishes it by an app, or schedules it where a time is given. */
  Schema.TaggedStruct("PublishDraft", {
    draftId: StatusIdFromString,
    applicationId: Schema.NullOr(AppIdFromString),
    scheduledAt: Schema.NullOr(Schema.Int)
  }),
  Schema.TaggedStruct("CancelScheduled", { scheduledId: StatusIdFromString }),
  Schema.TaggedStruct("Favourite", OnStatus),
  Schema.TaggedStruct("Unfavourite", OnStatus),
  /** `name` is an emoji of Unicode, or a custom one: `shortcode`, or `shortcode@domain` where it stands on the status already. */
  Schema.TaggedStruct("React", { ...OnStatus, name: Schema.String }),
  Schema.TaggedStruct("Unreact", { ...OnStatus, name: Schema.String }),
  Schema.TaggedStruct("Reblog", { ...OnStatus, visibility: Schema.NullOr(Visibility) }),
  Schema.TaggedStruct("Unreblog", OnStatus),
  /** `choices` are indexes of the poll's options. */
  Schema.TaggedStruct("Vote", { ...OnStatus, choices: Schema.Array(Schema.Int) }),
  /** Takes back that one of the account's statuses is quoted by another one. */
  Schema.TaggedStruct("RevokeQuote", { ...OnStatus, quotingId: StatusIdFromString }),
  /** Takes a reply to one of the account's statuses out of its thread. */
  Schema.TaggedStruct("RemoveReply", { ...OnStatus, replyId: StatusIdFromString }),
  Schema.TaggedStruct("SetQuotePolicy", { ...OnStatus, policy: QuotePolicy }),
  /** The account is a moderator: these servers, or the reported account's own, hear of a report. */
  Schema.TaggedStruct("ForwardReport", { reportId: IdFromString, domains: Schema.Array(Schema.String) }),
  /** A moderator has looked at a post that waits because of a rule against spam. */
  Schema.TaggedStruct("ReviewPost", { ...OnStatus, by: AccountIdFromString, approved: Schema.Boolean }),
  /** Lets happen what somebody asked to do with a status of the account, or not. */
  Schema.TaggedStruct("AuthorizeInteraction", { requestId: IdFromString }),
  Schema.TaggedStruct("RejectInteraction", { requestId: IdFromString }),
  /** The consent by which a post of the account quotes another does not stand any more. */
  Schema.TaggedStruct("QuoteEnded", { ...OnStatus, authorization: Schema.String }),
  /** What became of the consent that a reply or reblog of the account claims. */
  Schema.TaggedStruct("InteractionKnown", { requestId: IdFromString, holds: Schema.Boolean }),
  Schema.TaggedStruct("Pin", OnStatus),
  Schema.TaggedStruct("Unpin", OnStatus),
  /** A hashtag on the own profile, without the #. */
  Schema.TaggedStruct("FeatureTag", { name: Schema.String }),
  Schema.TaggedStruct("UnfeatureTag", { name: Schema.String }),
  /** `name` is an emoji of Unicode or a shortcode. */
  Schema.TaggedStruct("ReactToAnnouncement", { ...OnAnnouncement, name: Schema.String }),
  Schema.TaggedStruct("UnreactToAnnouncement", { ...OnAnnouncement, name: Schema.String }),
  /** What staff tells everybody; refused to others. */
  Schema.TaggedStruct("CreateAnnouncement", { announcement: AnnouncementChange, unpublished: Schema.Boolean }),
  Schema.TaggedStruct("UpdateAnnouncement", { ...OnAnnouncement, change: AnnouncementChange }),
  Schema.TaggedStruct("PublishAnnouncement", OnAnnouncement),
  Schema.TaggedStruct("UnpublishAnnouncement", OnAnnouncement),
  Schema.TaggedStruct("DeleteAnnouncement", OnAnnouncement),
  /** A hashtag of which public posts are wanted at home, without the #. */
  Schema.TaggedStruct("FollowTag", { name: Schema.String }),
  Schema.TaggedStruct("UnfollowTag", { name: Schema.String }),
  Schema.TaggedStruct("Follow", {
    ...Target,
    reblogs: Schema.NullOr(Schema.Boolean),
    notify: Schema.NullOr(Schema.Boolean),
    languages: Schema.NullOr(Schema.Array(Schema.String))
  }),
  Schema.TaggedStruct("Unfollow", Target),
  /** Another server takes the account for a follower, which it is not. */
  Schema.TaggedStruct("DisownFollow", Target),
  Schema.TaggedStruct("AuthorizeFollow", Target),
  Schema.TaggedStruct("RejectFollow", Target),
  Schema.TaggedStruct("RemoveFollower", Target),
  Schema.TaggedStruct("Block", Target),
  Schema.TaggedStruct("Unblock", Target),
  /** `seconds` 0 mutes for ever. */
  Schema.TaggedStruct("Mute", { ...Target, notifications: Schema.Boolean, replies: OptionalFlag, seconds: Schema.Int }),
  Schema.TaggedStruct("Unmute", Target),
  Schema.TaggedStruct("Endorse", Target),
  Schema.TaggedStruct("Unendorse", Target),
  /** A collection of accounts that it recommends, with the first of them. */
  Schema.TaggedStruct("CreateCollection", { said: CollectionChange, accountIds: Schema.Array(AccountIdFromString) }),
  Schema.TaggedStruct("UpdateCollection", { ...OfCollection, said: CollectionChange }),
  Schema.TaggedStruct("DeleteCollection", OfCollection),
  Schema.TaggedStruct("AddToCollection", { ...OfCollection, ...Target }),
  Schema.TaggedStruct("RemoveFromCollection", { ...OfCollection, itemId: IdFromString }),
  /** Takes itself out of somebody's collection. */
  Schema.TaggedStruct("LeaveCollection", { ...OfCollection, itemId: IdFromString }),
  /** `domain` is normal. */
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
  /** A measure of the moderators against the account that runs the command. */
  Schema.TaggedStruct("Moderate", {
    measure: Schema.Literals(["suspend", "silence", "sensitize"]),
    stands: Schema.Boolean
  }),
  /** What a moderator does about the account, with a strike against it that tells the person why. */
  Schema.TaggedStruct("TakeAction", {
    by: AccountIdFromString,
    type: Schema.Literals(actionTypes),
    text: Schema.String,
    reportId: Schema.NullOr(IdFromString),
    /** Whether the person is told by a notification; a mail is for who asked for the command. */
    tells: Schema.Boolean
  }),
  Schema.TaggedStruct("LiftAction", { by: AccountIdFromString, type: Schema.Literals(lastingTypes) }),
  /** What a moderator does about posts and collections of the account, with a strike against it. */
  Schema.TaggedStruct("ModerateStatuses", {
    by: AccountIdFromString,
    type: Schema.Literals(statusActionTypes),
    statusIds: Schema.Array(StatusIdFromString),
    collectionIds: Schema.optionalKey(Schema.Array(IdFromString)),
    text: Schema.String,
    reportId: Schema.NullOr(IdFromString),
    tells: Schema.Boolean
  }),
  /** What staff decides about an appeal of the account against a strike. */
  Schema.TaggedStruct("DecideAppeal", { by: AccountIdFromString, appealId: IdFromString, approved: Schema.Boolean }),
  Schema.TaggedStruct("UpdateProfile", { change: ProfileChange }),
  /** For ever: its name is not given again. `by` a moderator, or by who runs the server. */
  Schema.TaggedStruct("DeleteAccount", { by: Schema.optionalKey(AccountIdFromString) }),
  /**
   * A post of the account as its origin serves it, in JSON. `asked`: somebody wants it, so that it is kept although it
   * may concern nobody here.
   */
  Schema.TaggedStruct("Import", { document: Schema.String, asked: Schema.Boolean }),
  /** What a remote account has pinned, first what comes first. */
  Schema.TaggedStruct("Feature", { ...Reading, statusIds: Schema.Array(StatusIdFromString) }),
  /** The hashtags on a remote account's profile. */
  Schema.TaggedStruct("FeatureTags", { ...Reading, names: Schema.Array(Schema.String) }),
  /** Collections of accounts that a remote account has, as its server gives them, in JSON. */
  Schema.TaggedStruct("KeepCollections", { documents: Schema.Array(Schema.String) }),
  /** Who was unknown when the post came is known now, and mentioned in it. */
  Schema.TaggedStruct("MentionKnown", OnStatus),
  /** What a post of the account quotes is here now, or what became of the consent that it claims. */
  Schema.TaggedStruct("QuoteKnown", {
    ...OnStatus,
    authorization: Schema.optionalKey(Schema.Struct({ uri: Schema.String, holds: Schema.Boolean }))
  }),
  /** A post of the account that its origin has no more. */
  Schema.TaggedStruct("Withdraw", { uri: Schema.String }),
  /** Becomes another account, which must name this one among its aliases. */
  Schema.TaggedStruct("Move", Target),
  /** An actor's id that the account is, or is not any more, known as. */
  Schema.TaggedStruct("Alias", { uri: Schema.String, present: Schema.Boolean }),
  /** An account that this one follows, blocks or mutes has moved to another one. */
  Schema.TaggedStruct("CarryOver", { from: AccountIdFromString, to: AccountIdFromString })
])
export type Command = typeof Command.Type

/** The answer of a command, and what the command changed, of which the caller's node may not have heard yet. */
const Done = Schema.Struct({ ...CommandAnswer.fields, changes: Schema.optionalKey(Schema.Array(Change)) })

/** `account_intents.details` */
export const PersistedCommand = persisted(Command, 1)

/** Commands that may wait for one account; beyond it a caller is told to come back. */
export const accountMailboxMax = 1_024

/**
 * The actor of one account; its entity id is the account's id as a decimal string. `Do` runs a command once for each `id`,
 * and never after `until` (milliseconds since 1970), when its caller was told to come back. `Wake` says that there are
 * intents or something due, `Receive` that another server sent something; both may be lost.
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
