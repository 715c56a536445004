import { Clock, Effect } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import type { ClientError } from "../../services/Errors.ts"
import { Departures } from "../../services/federation/departure/Departures.ts"
import { asForeign, type Foreign, idOf, typeOf } from "../../services/federation/documents/Reading.ts"
import { References } from "../../services/federation/inbox/References.ts"
import type { AccountId, StatusId } from "../../services/Ids.ts"
import { Errands } from "../../services/intents/Errands.ts"
import * as InboxCollections from "./InboxCollections.ts"
import * as InboxMoves from "./InboxMoves.ts"
import * as InboxPosts from "./InboxPosts.ts"
import { done, ignored, type Outcome, type RemoteSelf } from "./InboxPosts.ts"
import * as InboxReports from "./InboxReports.ts"
import * as InboxUndo from "./InboxUndo.ts"
import type { Ownership } from "./Ownership.ts"
import type { Verbs } from "./Verbs.ts"

const known = [
  "Accept",
  "Add",
  "Announce",
  "Block",
  "Create",
  "Delete",
  "Flag",
  "Follow",
  "Like",
  "Move",
  "Reject",
  "Remove",
  "Undo",
  "Update"
] as const

/** What somebody who is suspended may still do: take back. */
const whileSuspended = new Set(["Delete", "Reject", "Undo", "Update"])

/**
 * What the activities of a remote account do, mostly what the account's own verbs do; inside a transaction of its actor.
 * Whatever they name is looked for here and not fetched, and belongs to whom it says only where that is the account itself
 * (row 8).
 */
export const make = Effect.fnUntraced(function*(verbs: Verbs) {
  const references = yield* References
  const collections = yield* InboxCollections.make
  const departures = yield* Departures
  const errands = yield* Errands
  const reports = yield* InboxReports.make
  const moves = yield* InboxMoves.make
  const undoing = yield* InboxUndo.make(verbs)
  const posts = yield* InboxPosts.make(verbs)

  const onAccount = (
    object: unknown,
    act: (target: AccountId) => Effect.Effect<unknown, ClientError | SqlError>
  ): Outcome =>
    Effect.flatMap(
      references.localAccount(idOf(object) ?? ""),
      (target) => target === undefined ? ignored("nobody here") : Effect.as(act(target), done)
    )
  const onStatus = (
    object: unknown,
    act: (statusId: StatusId) => Effect.Effect<unknown, ClientError | SqlError>
  ): Outcome =>
    Effect.flatMap(
      references.status(idOf(object) ?? ""),
      (statusId) => statusId === undefined ? ignored("an unknown post") : Effect.as(act(statusId), done)
    )

  /** An answer to a follow of ours: only where we asked for it, and of the one whom we asked (row 16). */
  const answered = (
    self: RemoteSelf,
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

  const rejected = (own: Ownership, self: RemoteSelf, object: unknown): Outcome =>
    answered(self, object, (target) =>
      Effect.catchTag(
        verbs.RejectFollow(own, { _tag: "RejectFollow", target }),
        "RecordNotFound",
        () => verbs.RemoveFollower(own, { _tag: "RemoveFollower", target })
      ))

  const perform = (own: Ownership, self: RemoteSelf, activity: Foreign, receivedAt: number): Outcome =>
    Effect.flatMap(
      undoing.wasUndone(own, activity),
      (undone) => undone ? ignored("it was undone") : doIt(own, self, activity, receivedAt)
    )

  const doIt = (own: Ownership, self: RemoteSelf, activity: Foreign, receivedAt: number): Outcome =>
    Effect.suspend(() => {
      const type = typeOf(activity, ...known) ?? ""
      const object = activity["object"]
      if (self.suspended && !whileSuspended.has(type)) return ignored("its sender is suspended")
      switch (type) {
        case "Follow":
          return onAccount(
            object,
            (target) => verbs.Follow(own, { _tag: "Follow", target, reblogs: null, notify: null, languages: null })
          )
        case "Flag":
          return reports.flag(own, self, activity)
        case "Like":
          return onStatus(object, (statusId) => verbs.Favourite(own, { _tag: "Favourite", statusId }))
        case "Announce":
          return posts.announce(own, self, activity)
        case "Create":
          return Effect.flatMap(
            Clock.currentTimeMillis,
            (now) => posts.create(own, self, object, Math.min(now, receivedAt))
          )
        case "Delete":
          return idOf(object) === self.uri
            ? Effect.as(departures.begin(own.accountId), done)
            : posts.remove(own, self, object)
        case "Move":
          return moves.move(own, self, activity)
        case "Undo":
          return typeOf(asForeign(object) ?? {}, "Accept") === undefined
            ? undoing.undo(own, self, object)
            : rejected(own, self, asForeign(object)?.["object"])
        case "Add":
        case "Remove":
          return collections.change(own, self, activity, type === "Add")
        case "Accept":
          return answered(self, object, (target) => verbs.AuthorizeFollow(own, { _tag: "AuthorizeFollow", target }))
        case "Reject":
          return rejected(own, self, object)
        case "Block":
          return onAccount(object, (target) => verbs.Block(own, { _tag: "Block", target }))
        case "Update":
          // The profile is what its document says, and no transaction can wait for another look at it.
          return idOf(object) === self.uri
            ? Effect.as(errands.leave("profile", own.accountId), done)
            : Effect.flatMap(Clock.currentTimeMillis, (now) => posts.edit(own, self, object, now))
        default:
          return ignored("unknown")
      }
    })
  return { perform }
})
