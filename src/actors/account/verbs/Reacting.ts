import { Effect } from "effect"
import { ReactionActivities } from "../../../services/federation/outbox/ReactionActivities.ts"
import { NotificationWriter } from "../../../services/feeds/NotificationWriter.ts"
import { validationFailed } from "../../../services/runtime/Errors.ts"
import { EmojiReactions, type RemoteReaction } from "../../../services/statuses/EmojiReactions.ts"
import type { ReactionEmoji } from "../../../services/statuses/ReactionEmoji.ts"
import { StatusTargets } from "../../../services/statuses/StatusTargets.ts"
import * as Gates from "../core/Gates.ts"
import * as IntentWriter from "../core/IntentWriter.ts"
import type { Ownership } from "../core/Ownership.ts"
import { type Commands, onStatus } from "../core/Verbs.ts"
import * as Sending from "../fanout/Sending.ts"
import * as Undoing from "./Undoing.ts"

const type = "pleroma:emoji_reaction"

/** Emoji reactions to statuses. Like a favourite, a reaction can be undone after its author blocked the account. */
export const make = Effect.gen(function*() {
  const activities = yield* ReactionActivities
  const gates = yield* Gates.make
  const intend = yield* IntentWriter.make
  const notificationWriter = yield* NotificationWriter
  const reactions = yield* EmojiReactions
  const send = yield* Sending.make
  const statusTargets = yield* StatusTargets
  const undo = yield* Undoing.make

  /** Reacts to a status that the account may see (the caller checks that). Returns the reaction's id. */
  const add = Effect.fnUntraced(function*(
    own: Ownership,
    { accountId: author, id, local }: { readonly id: bigint; readonly accountId: bigint; readonly local: boolean },
    emoji: ReactionEmoji,
    origin?: RemoteReaction
  ) {
    const reaction = yield* reactions.add(own.accountId, id, emoji, origin)
    if (reaction === undefined || !reaction.added) return reaction?.id
    if (local && author !== own.accountId) yield* intend(own, { _tag: "notify", type, to: author, statusId: id })
    if (!local) yield* send(activities.react(reaction.id))
    return reaction.id
  })

  /** Updates notifications and caches after a reaction is removed. */
  const removed = Effect.fnUntraced(function*({ accountId }: Ownership, statusId: bigint) {
    if (!(yield* reactions.any(accountId, statusId))) yield* notificationWriter.retractOne(type, accountId, statusId)
  })

  const remove = Effect.fnUntraced(function*(own: Ownership, reactionId: bigint) {
    yield* send(activities.undo(reactionId))
    const statusId = yield* reactions.remove(own.accountId, reactionId)
    if (statusId !== undefined) yield* removed(own, statusId)
  })

  const verbs = {
    React: Effect.fnUntraced(function*(own: Ownership, { name, statusId }: Commands["React"]) {
      const target = yield* statusTargets.touchable(own.accountId, statusId)
      // Accounts that may not favourite a post may not react to it either.
      yield* gates.requireAutomatic(own.accountId, target, "favourite")
      const emoji = yield* reactions.find(target.id, name)
      if (emoji === undefined) return yield* validationFailed("Name is not a recognized emoji")
      if ((yield* add(own, target, emoji)) === undefined) {
        return yield* validationFailed("Limit of different reactions reached")
      }
      return onStatus(target.id)
    }),
    Unreact: undo(Effect.fnUntraced(function*(own: Ownership, id: bigint, { name }: Commands["Unreact"]) {
      const emoji = yield* reactions.find(id, name)
      const standing = emoji && (yield* reactions.standing(own.accountId, id, emoji))
      if (standing === undefined) return false
      yield* remove(own, standing)
      return true
    }))
  }

  return {
    verbs,
    add,
    remove,
    /** Removes the reactions that came with a Like, when the Like is undone. */
    unlike: Effect.fnUntraced(function*(own: Ownership, statusId: bigint) {
      if (yield* reactions.removeLiked(own.accountId, statusId)) yield* removed(own, statusId)
    })
  }
})
