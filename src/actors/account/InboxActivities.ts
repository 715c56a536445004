import { Clock, Effect } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import { type ClientError, Unprocessable } from "../../services/Errors.ts"
import { asForeign, type Foreign, idOf, typeOf } from "../../services/federation/documents/Reading.ts"
import { NeedsFetch } from "../../services/federation/fetching/OriginChecks.ts"
import type { InboundSender } from "../../services/federation/inbox/InboundSender.ts"
import { KnownUris, type NamedStatus } from "../../services/federation/inbox/KnownUris.ts"
import { Undoables, type UndoableType } from "../../services/federation/inbox/Undoables.ts"
import { FollowActivities } from "../../services/federation/outbox/FollowActivities.ts"
import { Purges } from "../../services/federation/purge/Purges.ts"
import type { AccountId, StatusId } from "../../services/Ids.ts"
import { Jobs } from "../../services/intents/Jobs.ts"
import * as InboxBoosts from "./InboxBoosts.ts"
import * as InboxCollections from "./InboxCollections.ts"
import * as InboxConsents from "./InboxConsents.ts"
import { taken } from "./InboxConsents.ts"
import * as InboxMoves from "./InboxMoves.ts"
import * as InboxPosts from "./InboxPosts.ts"
import { done, ignored, type Outcome } from "./InboxPosts.ts"
import * as InboxReactions from "./InboxReactions.ts"
import * as InboxRelays from "./InboxRelays.ts"
import * as InboxReports from "./InboxReports.ts"
import * as InboxUndo from "./InboxUndo.ts"
import type { Ownership } from "./Ownership.ts"
import * as RemovingReplies from "./RemovingReplies.ts"
import * as Sending from "./Sending.ts"
import type { Verbs } from "./Verbs.ts"

const known = [
  "Accept",
  "Add",
  "Announce",
  "AnnounceRequest",
  "Block",
  "Create",
  "Delete",
  "EmojiReact",
  "FeatureRequest",
  "Flag",
  "Follow",
  "Like",
  "LikeRequest",
  "Move",
  "QuoteRequest",
  "Reject",
  "Remove",
  "ReplyRequest",
  "Undo",
  "Update"
] as const

/** When an activity came in, and when it was signed, as far as that is still known; in milliseconds since 1970. */
export interface Times {
  /** Counts up in the order in which activities came in. */
  readonly place: bigint
  readonly received: number
  readonly signed: number
}

/**
 * Does the activities of a remote account inside a transaction of its actor, mostly by the account's own verbs. Objects
 * that they name are looked for here; `NeedsFetch` says that one has to be fetched first. It belongs to whom it says
 * only where that is the account itself (row 8).
 */
export const make = Effect.fnUntraced(function*(verbs: Verbs) {
  const knownUris = yield* KnownUris
  const undoables = yield* Undoables
  const collections = yield* InboxCollections.make
  const purges = yield* Purges
  const jobs = yield* Jobs
  const relays = yield* InboxRelays.make
  const reports = yield* InboxReports.make
  const moves = yield* InboxMoves.make
  const posts = yield* InboxPosts.make(verbs)
  const boosts = yield* InboxBoosts.make(posts)
  const activities = yield* FollowActivities
  const send = yield* Sending.make
  const removing = yield* RemovingReplies.make
  const reactions = yield* InboxReactions.make
  const consents = yield* InboxConsents.make(posts, boosts)
  const undoing = yield* InboxUndo.make(verbs, reactions, consents)

  const onAccount = (
    object: unknown,
    act: (target: AccountId) => Effect.Effect<unknown, ClientError | SqlError>
  ): Outcome =>
    Effect.flatMap(
      knownUris.localAccount(idOf(object) ?? ""),
      (target) => target === undefined ? ignored("nobody here") : Effect.as(act(target), done)
    )
  const onStatus = (
    object: unknown,
    act: (statusId: StatusId, named: NamedStatus) => Effect.Effect<unknown, ClientError | SqlError>
  ): Outcome =>
    Effect.flatMap(
      knownUris.named(idOf(object) ?? ""),
      (named) => named === undefined ? ignored("an unknown post") : Effect.as(act(named.id, named), done)
    )

  /** Keeps the id, for who undoes by it. */
  const remember = (own: Ownership, activity: Foreign, type: UndoableType, targetId: bigint) =>
    undoables.remember(own.accountId, idOf(activity), { type, targetId })

  /** Answered by whom it is for: accepted, again if need be, or refused; or it waits. */
  const follow = (own: Ownership, target: AccountId, activity: Foreign): Outcome => {
    const uri = idOf(activity)
    return verbs.Follow(own, { _tag: "Follow", target, reblogs: null, notify: null, languages: null }).pipe(
      Effect.andThen(send(activities.received(own.accountId, target, uri))),
      Effect.andThen(remember(own, activity, "Follow", target)),
      Effect.as(done),
      Effect.catchTag(
        "NotAllowed",
        () => Effect.andThen(send(activities.refuse(target, own.accountId, uri)), ignored("it is refused"))
      )
    )
  }

  /** A Create or an Update that names its object only: the object's own document says what it is (row 7). */
  const byId = Effect.fnUntraced(function*(self: InboundSender, uri: string, isNew: boolean) {
    if (URL.parse(uri)?.origin !== URL.parse(self.uri)?.origin) return yield* ignored("an id of another server")
    const known = yield* knownUris.status(uri)
    if (isNew === (known !== undefined)) return yield* ignored(isNew ? "it is here already" : "an unknown post")
    return yield* new NeedsFetch({ inquiry: { kind: "news", uri } })
  })

  /** An answer to a follow of ours: only where we asked for it, and of the one whom we asked (row 16). */
  const answered = (
    self: InboundSender,
    object: unknown,
    act: (target: AccountId) => Effect.Effect<unknown, ClientError | SqlError>
  ): Outcome => {
    const follow = asForeign(object)
    // By its id alone it is found by the account that the id begins with.
    if (follow === undefined) return onAccount(object, act)
    return typeOf(follow, "Follow") === undefined || idOf(follow["object"]) !== self.uri
      ? ignored("no follow of ours")
      : onAccount(follow["actor"], act)
  }

  const rejected = (own: Ownership, self: InboundSender, object: unknown): Outcome =>
    answered(
      self,
      object,
      (target) =>
        Effect.flatMap(activities.isEarlier(target, own.accountId, idOf(object) ?? ""), (isEarlier) =>
          // A request ends as a follow does.
          isEarlier
            ? new Unprocessable({ text: "it ends an earlier follow" })
            : verbs.RemoveFollower(own, { _tag: "RemoveFollower", target }))
    )

  /** A follow of ours, or a reply to a post of the sender's that is to be no part of its thread. */
  const refused = (own: Ownership, self: InboundSender, object: unknown): Outcome =>
    Effect.flatMap(
      knownUris.status(idOf(object) ?? ""),
      (replyId) => replyId === undefined ? rejected(own, self, object) : removing.rejected(own, replyId)
    )

  const perform = (own: Ownership, self: InboundSender, activity: Foreign, times: Times): Outcome =>
    Effect.flatMap(
      undoing.wasUndone(own, activity, times.signed),
      (undone) => undone ? ignored("it was undone") : doIt(own, self, activity, times)
    )

  const doIt = (own: Ownership, self: InboundSender, activity: Foreign, times: Times): Outcome =>
    Effect.suspend(() => {
      const type = typeOf(activity, ...known) ?? ""
      const object = activity["object"]
      switch (type) {
        case "Follow":
          return Effect.flatMap(
            knownUris.localAccount(idOf(object) ?? ""),
            (target) => target === undefined ? relays.followed(own, self, activity) : follow(own, target, activity)
          )
        case "Flag":
          return reports.flag(own, self, activity)
        case "Like":
          // One that says with what is a reaction as well, and a favourite for who knows of none.
          return onStatus(object, (statusId, named) =>
            taken(consents.liked(own, self, activity, named), () =>
              verbs.Favourite(own, { _tag: "Favourite", statusId }).pipe(
                Effect.andThen(reactions.react(own, self, activity, statusId)),
                Effect.andThen(remember(own, activity, "Like", statusId))
              )))
        case "EmojiReact":
          return reactions.received(own, self, activity, (id) =>
            remember(own, activity, type, id))
        case "AnnounceRequest":
        case "LikeRequest":
        case "QuoteRequest":
        case "ReplyRequest":
          return consents.requested(own, self, activity, times.signed)
        case "Announce":
          return boosts.announce(own, self, activity, times.signed)
        case "Create":
          if (typeof object === "string") {
            return byId(self, idOf(object) ?? "", true)
          }
          return Effect.flatMap(Clock.currentTimeMillis, (now) =>
            posts.create(own, self, object, Math.min(now, times.received), false))
        case "Delete":
          return idOf(object) === self.uri
            ? Effect.as(purges.begin(own.accountId), done)
            : taken(consents.withdrawn(own, object), () =>
              posts.remove(own, self, object))
        case "Move":
          return moves.move(own, self, activity)
        case "Undo":
          return typeOf(asForeign(object) ?? {}, "Accept") === undefined
            ? undoing.undo(own, self, object, times.signed)
            : rejected(own, self, asForeign(object)?.["object"])
        case "Add":
        case "Remove":
          return taken(consents.features.change(own, self, activity), () =>
            collections.change(own, self, activity, times.place))
        case "FeatureRequest":
          return consents.features.request(own, self, activity)
        case "Accept":
        case "Reject":
          return taken(relays.answered(own, activity, type), () =>
            taken(consents.answered(own, self, activity), () =>
              type === "Reject"
                ? refused(own, self, object)
                : answered(self, object, (target) =>
                  verbs.AuthorizeFollow(own, { _tag: "AuthorizeFollow", target }))))
        case "Block":
          return onAccount(
            object,
            (target) =>
              Effect.andThen(verbs.Block(own, { _tag: "Block", target }), remember(own, activity, "Block", target))
          )
        case "Update":
          if (typeof object === "string" && object !== self.uri) {
            return byId(self, idOf(object) ?? "", false)
          }
          if (typeOf(asForeign(object) ?? {}, "FeaturedCollection") !== undefined) {
            return consents.features.store(own, self, object)
          }
          // The profile is what its document says, and no transaction can wait for another look at it.
          return idOf(object) === self.uri
            ? Effect.as(jobs.enqueue("profile", own.accountId), done)
            : Effect.flatMap(Clock.currentTimeMillis, (now) =>
              posts.edit(own, self, object, now))
        default:
          return ignored("unknown")
      }
    })
  return { perform }
})
