import { Effect } from "effect"
import { PostActivities } from "../../../services/federation/outbox/PostActivities.ts"
import { NotificationWriter } from "../../../services/feeds/NotificationWriter.ts"
import { pinsMax } from "../../../services/instance/ContentLimits.ts"
import type { NewNotification } from "../../../services/intents/Intent.ts"
import { NotAllowed, Unprocessable } from "../../../services/runtime/Errors.ts"
import { Authors } from "../../../services/statuses/Authors.ts"
import { Favourites } from "../../../services/statuses/Favourites.ts"
import { Reblogs } from "../../../services/statuses/Reblogs.ts"
import { type StatusTarget, StatusTargets } from "../../../services/statuses/StatusTargets.ts"
import { StatusWriter } from "../../../services/statuses/StatusWriter.ts"
import * as Gates from "../core/Gates.ts"
import * as IntentWriter from "../core/IntentWriter.ts"
import { nextMillis, type Ownership } from "../core/Ownership.ts"
import { type Commands, onRefused, onStatus } from "../core/Verbs.ts"
import * as Sending from "../fanout/Sending.ts"
import * as TellFollowers from "../fanout/TellFollowers.ts"
import * as Controlling from "./Controlling.ts"
import * as Screening from "./Screening.ts"
import * as Undoing from "./Undoing.ts"

/** Favourites, reblogs and pins. */
export const make = Effect.gen(function*() {
  const statusTargets = yield* StatusTargets
  const authors = yield* Authors
  const favourites = yield* Favourites
  const reblogs = yield* Reblogs
  const statusWriter = yield* StatusWriter
  const tellFollowers = yield* TellFollowers.make
  const intend = yield* IntentWriter.make
  const activities = yield* PostActivities
  const send = yield* Sending.make
  const notificationWriter = yield* NotificationWriter
  const control = yield* Controlling.make
  const gates = yield* Gates.make
  const screening = yield* Screening.make
  const undo = yield* Undoing.make

  const notify = (own: Ownership, type: NewNotification["type"], { accountId: to, id, local }: StatusTarget) =>
    to === own.accountId || !local
      ? Effect.void
      : intend(own, { _tag: "notify", type, to, statusId: id })
  const refusePin = (text: string) => new Unprocessable({ text: `Validation failed: ${text}` })

  const verbs = {
    Favourite: Effect.fnUntraced(function*(own: Ownership, { imported, millis, statusId }: Commands["Favourite"]) {
      const { accountId } = own
      const target = yield* statusTargets.touchable(accountId, statusId)
      if (imported === true) {
        yield* gates.requireAutomatic(accountId, target, "favourite")
        yield* millis === undefined
          ? favourites.add(accountId, target.id)
          : favourites.addAt(millis, accountId, target.id)
        return onStatus(target.id)
      }
      const agreement = yield* gates.checkPolicy(accountId, target, "favourite")
      if (agreement !== "free") {
        yield* control.favourite(own, target, agreement)
        return onStatus(target.id)
      }
      if (yield* favourites.add(accountId, target.id)) {
        yield* notify(own, "favourite", target)
        if (!target.local) yield* send(activities.like(accountId, target.id))
      }
      return onStatus(target.id)
    }),
    Unfavourite: undo(Effect.fnUntraced(function*(own: Ownership, id: bigint) {
      const { accountId } = own
      const asked = yield* control.withdraw(own, "favourite", id)
      yield* send(activities.undoLike(accountId, id))
      if (!(yield* favourites.remove(accountId, id))) return asked
      yield* notificationWriter.retractOne("favourite", accountId, id)
      return true
    })),
    Reblog: Effect.fnUntraced(function*(own: Ownership, { statusId, visibility }: Commands["Reblog"]) {
      const { accountId } = own
      const target = yield* statusTargets.touchable(accountId, statusId)
      const isOwn = target.accountId === accountId
      if (target.visibility === "direct" || (target.visibility === "private" && !isOwn)) return yield* new NotAllowed()
      const before = yield* reblogs.find(accountId, target.id)
      if (before !== undefined) return onStatus(before)
      const agreement = yield* gates.checkPolicy(accountId, target, "reblog")
      const author = yield* authors.settings(accountId)
      const { limits, refusedBy } = yield* screening.boosts(own, { statusId: target.id, domain: null })
      if (refusedBy !== undefined) return onRefused(refusedBy)
      const requestedVisibility = visibility === null || visibility === "direct" ? author.visibility : visibility
      const shown = target.visibility === "private"
        ? "private"
        : requestedVisibility === "public" && (author.silenced || limits)
        ? "unlisted"
        : requestedVisibility
      const id = yield* reblogs.insert({
        accountId,
        original: target.id,
        visibility: shown,
        millis: yield* nextMillis(own),
        uri: null
      })
      if (agreement !== "free") yield* control.attach(own, target, "reblog", agreement, id)
      if (agreement !== "asks") {
        yield* intend(own, { _tag: "publish", statusId: id })
        yield* notify(own, "reblog", target)
      }
      return onStatus(id)
    }),
    Unreblog: undo(Effect.fnUntraced(function*(own: Ownership, id: bigint) {
      const { accountId } = own
      const wrapper = yield* reblogs.find(accountId, id)
      if (wrapper === undefined) return false
      yield* control.withdraw(own, "reblog", id)
      yield* statusWriter.remove(wrapper, accountId, yield* nextMillis(own))
      yield* notificationWriter.retractOne("reblog", accountId, id)
      yield* notificationWriter.retract([wrapper])
      yield* intend(own, { _tag: "delete", statusId: wrapper })
      return true
    })),
    Pin: Effect.fnUntraced(function*(own: Ownership, { statusId }: Commands["Pin"]) {
      const { accountId } = own
      const target = yield* statusTargets.visible(accountId, statusId)
      if (target.id !== statusId) return yield* refusePin("A boost cannot be pinned")
      if (target.accountId !== accountId) return yield* refusePin("Someone else's post cannot be pinned")
      if (target.visibility === "direct") {
        return yield* refusePin("Posts that are only visible to mentioned users cannot be pinned")
      }
      const pinned = yield* favourites.pinned(accountId)
      if (!pinned.includes(statusId)) {
        if (pinned.length >= pinsMax) return yield* refusePin("You have already pinned the maximum number of posts")
        yield* favourites.pin(accountId, statusId)
        yield* tellFollowers(own, "Pin", statusId)
      }
      return onStatus(statusId)
    }),
    Unpin: Effect.fnUntraced(function*(own: Ownership, { statusId }: Commands["Unpin"]) {
      const { accountId } = own
      const target = yield* statusTargets.own(accountId, statusId)
      if (yield* favourites.unpin(accountId, target.id)) yield* tellFollowers(own, "Unpin", target.id)
      return onStatus(target.id)
    })
  }

  return { verbs }
})
