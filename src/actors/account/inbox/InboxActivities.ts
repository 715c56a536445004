import { Clock, Effect } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import type { AccountId, StatusId } from "../../../services/database/Ids.ts"
import { type ActivityType, activityTypeOf } from "../../../services/federation/documents/ActivityTypes.ts"
import { asForeign, type Foreign, idOf, typeOf } from "../../../services/federation/documents/ForeignValues.ts"
import { NeedsFetch } from "../../../services/federation/fetching/OriginChecks.ts"
import type { InboundSender } from "../../../services/federation/inbox/InboundSender.ts"
import { KnownUris, type NamedStatus } from "../../../services/federation/inbox/KnownUris.ts"
import { Undoables, type UndoableType } from "../../../services/federation/inbox/Undoables.ts"
import { FollowActivities } from "../../../services/federation/outbox/FollowActivities.ts"
import { Purges } from "../../../services/federation/purge/Purges.ts"
import { Jobs } from "../../../services/intents/Jobs.ts"
import { type ClientError, Unprocessable } from "../../../services/runtime/Errors.ts"
import { done, ignored, type Outcome } from "../core/Outcome.ts"
import type { Ownership } from "../core/Ownership.ts"
import type { Verbs } from "../core/Verbs.ts"
import * as Sending from "../fanout/Sending.ts"
import * as RemovingReplies from "../verbs/RemovingReplies.ts"
import * as InboxBoosts from "./InboxBoosts.ts"
import * as InboxCollections from "./InboxCollections.ts"
import * as InboxConsents from "./InboxConsents.ts"
import { orElse } from "./InboxConsents.ts"
import * as InboxMoves from "./InboxMoves.ts"
import * as InboxPosts from "./InboxPosts.ts"
import * as InboxReactions from "./InboxReactions.ts"
import * as InboxRelays from "./InboxRelays.ts"
import * as InboxReports from "./InboxReports.ts"
import * as InboxUndo from "./InboxUndo.ts"

/** Performs activities of one type. */
type Handler = (own: Ownership, self: InboundSender, activity: Foreign, times: Times) => Outcome

/**
 * Times of an activity's arrival and signature, in milliseconds since 1970. The arrival stands in for an unknown
 * signing time.
 */
export interface Times {
  /** Increases in the order in which activities arrive. */
  readonly place: bigint
  readonly received: number
  readonly signed: number
}

/**
 * Performs a remote account's activities inside a transaction of its actor, mostly through the account's own verbs.
 * Objects that they name are looked up locally; `NeedsFetch` means that one has to be fetched first. An activity's
 * sender must be the account itself (row 8).
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
      (target) => target === undefined ? ignored("no local recipient") : Effect.as(act(target), done)
    )
  const onStatus = (
    object: unknown,
    act: (statusId: StatusId, named: NamedStatus) => Effect.Effect<unknown, ClientError | SqlError>
  ): Outcome =>
    Effect.flatMap(
      knownUris.named(idOf(object) ?? ""),
      (named) => named === undefined ? ignored("an unknown post") : Effect.as(act(named.id, named), done)
    )

  /** Stores the activity's id, so that an Undo can refer to it. */
  const remember = (own: Ownership, activity: Foreign, type: UndoableType, targetId: bigint) =>
    undoables.remember(own.accountId, idOf(activity), { type, targetId })

  /** Handles a follow: accepted (again if repeated), refused, or left pending. */
  const follow = (own: Ownership, target: AccountId, activity: Foreign): Outcome => {
    const uri = idOf(activity)
    return verbs.Follow(own, { _tag: "Follow", target, reblogs: null, notify: null, languages: null }).pipe(
      Effect.andThen(send(activities.received(own.accountId, target, uri))),
      Effect.andThen(remember(own, activity, "Follow", target)),
      Effect.as(done),
      Effect.catchTag(
        "NotAllowed",
        () => Effect.andThen(send(activities.refuse(target, own.accountId, uri)), ignored("the request is refused"))
      )
    )
  }

  /** Handles a Create or Update that only names its object: the object's own document has the content (row 7). */
  const byId = Effect.fnUntraced(function*(self: InboundSender, uri: string, isNew: boolean) {
    if (URL.parse(uri)?.origin !== URL.parse(self.uri)?.origin) return yield* ignored("an id of another server")
    const known = yield* knownUris.status(uri)
    if (isNew === (known !== undefined)) return yield* ignored(isNew ? "already stored" : "an unknown post")
    return yield* new NeedsFetch({ originCheck: { kind: "news", uri } })
  })

  /**
   * Handles a reply to a local account's follow: only if it was requested, and from the account that was asked (row
   * 16).
   */
  const settled = (
    self: InboundSender,
    object: unknown,
    act: (target: AccountId) => Effect.Effect<unknown, ClientError | SqlError>
  ): Outcome => {
    const follow = asForeign(object)
    // An object that is only an id belongs to the account whose URI the id begins with.
    if (follow === undefined) return onAccount(object, act)
    return typeOf(follow, "Follow") === undefined || idOf(follow["object"]) !== self.uri
      ? ignored("no pending follow of this server")
      : onAccount(follow["actor"], act)
  }

  const rejected = (own: Ownership, self: InboundSender, object: unknown): Outcome =>
    settled(
      self,
      object,
      (target) =>
        Effect.flatMap(activities.isEarlier(target, own.accountId, idOf(object) ?? ""), (isEarlier) =>
          // A pending request ends in the same way as a follow.
          isEarlier
            ? new Unprocessable({ text: "it ends an earlier follow" })
            : verbs.RemoveFollower(own, { _tag: "RemoveFollower", target }))
    )

  /** Handles a Reject of a local follow, or of a reply that the sender removes from the thread. */
  const refused = (own: Ownership, self: InboundSender, object: unknown): Outcome =>
    Effect.flatMap(
      knownUris.status(idOf(object) ?? ""),
      (replyId) => replyId === undefined ? rejected(own, self, object) : removing.rejected(own, replyId)
    )

  /** Creates a post. If the activity only names its object, the object is fetched. */
  const create: Handler = (own, self, { object }, { received }) =>
    typeof object === "string"
      ? byId(self, object, true)
      : Effect.flatMap(
        Clock.currentTimeMillis,
        (now) => posts.create(own, self, object, Math.min(now, received), false)
      )

  const update: Handler = (own, self, { object }) => {
    // The profile is refetched by a job: no transaction can wait for the fetch.
    if (idOf(object) === self.uri) return Effect.as(jobs.enqueue("profile", own.accountId), done)
    if (typeof object === "string") {
      return orElse(consents.features.changed(own, object), () => byId(self, object, false))
    }
    return typeOf(asForeign(object) ?? {}, "FeaturedCollection") === undefined
      ? Effect.flatMap(Clock.currentTimeMillis, (now) => posts.edit(own, self, object, now))
      : consents.features.store(own, self, object)
  }

  // A Like with an emoji is both a reaction and a favourite, for clients that do not support reactions.
  const like: Handler = (own, self, activity) =>
    onStatus(
      activity["object"],
      (statusId, named) =>
        orElse(consents.liked(own, self, activity, named), () =>
          verbs.Favourite(own, { _tag: "Favourite", statusId }).pipe(
            Effect.andThen(reactions.react(own, self, activity, statusId)),
            Effect.andThen(remember(own, activity, "Like", statusId))
          ))
    )

  const decision = (type: "Accept" | "Reject"): Handler => (own, self, activity) =>
    orElse(
      relays.settled(own, activity, type),
      () =>
        orElse(consents.settled(own, self, activity), () =>
          type === "Reject"
            ? refused(own, self, activity["object"])
            : settled(
              self,
              activity["object"],
              (target) =>
                Effect.andThen(
                  verbs.AuthorizeFollow(own, { _tag: "AuthorizeFollow", target }),
                  remember(own, activity, "Accept", target)
                )
            ))
    )

  const request: Handler = (own, self, activity, times) => consents.requested(own, self, activity, times)
  const changeCollection: Handler = (own, self, activity, { place }) =>
    orElse(consents.features.change(own, self, activity), () => collections.change(own, self, activity, place))

  const handlers: { readonly [Type in ActivityType]: Handler } = {
    Accept: decision("Accept"),
    Add: changeCollection,
    Announce: (own, self, activity, times) => boosts.announce(own, self, activity, times),
    AnnounceRequest: request,
    Block: (own, _, activity) =>
      onAccount(
        activity["object"],
        (target) =>
          Effect.andThen(verbs.Block(own, { _tag: "Block", target }), remember(own, activity, "Block", target))
      ),
    Create: create,
    Delete: (own, self, { object }) =>
      idOf(object) === self.uri
        ? Effect.as(purges.begin(own.accountId), done)
        : orElse(consents.withdrawn(own, object), () => posts.remove(own, self, object)),
    EmojiReact: (own, self, activity) =>
      reactions.received(own, self, activity, (id) => remember(own, activity, "EmojiReact", id)),
    FeatureRequest: (own, self, activity) => consents.features.request(own, self, activity),
    Flag: (own, self, activity) => reports.flag(own, self, activity),
    Follow: (own, self, activity) =>
      Effect.flatMap(
        knownUris.localAccount(idOf(activity["object"]) ?? ""),
        (target) => target === undefined ? relays.followed(own, self, activity) : follow(own, target, activity)
      ),
    Like: like,
    LikeRequest: request,
    Move: (own, self, activity) => moves.move(own, self, activity),
    QuoteRequest: request,
    Reject: decision("Reject"),
    Remove: changeCollection,
    ReplyRequest: request,
    Undo: (own, self, { object }, times) => {
      const inner = asForeign(object) ?? {}
      return activityTypeOf(inner) === "Accept" && inner["object"] !== undefined
        ? rejected(own, self, inner["object"])
        : undoing.undo(own, self, object, times)
    },
    Update: update
  }

  const perform: Handler = (own, self, activity, times) =>
    Effect.flatMap(undoing.wasUndone(own, activity, times), (undone) => {
      const type = activityTypeOf(activity)
      if (type === undefined) return ignored("unknown")
      return undone ? ignored("already undone") : handlers[type](own, self, activity, times)
    })
  return { perform }
})
