import { Clock, Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import type { AccountId } from "../../../services/database/Ids.ts"
import { FollowActivities } from "../../../services/federation/outbox/FollowActivities.ts"
import { feedsOf } from "../../../services/feeds/FeedKeys.ts"
import { Feeds } from "../../../services/feeds/Feeds.ts"
import { NotificationWriter } from "../../../services/feeds/NotificationWriter.ts"
import { foreignFollowsMax } from "../../../services/instance/ForeignLimits.ts"
import { AgendaEntries } from "../../../services/intents/AgendaEntries.ts"
import type { CommandResponse } from "../../../services/intents/Commands.ts"
import type { NewNotification } from "../../../services/intents/Intent.ts"
import { NotAllowed, RecordNotFound, validationFailed } from "../../../services/runtime/Errors.ts"
import { Blocks } from "../../../services/social/Blocks.ts"
import { Endorsements } from "../../../services/social/Endorsements.ts"
import { Follows, followsMax } from "../../../services/social/Follows.ts"
import { Mutes } from "../../../services/social/Mutes.ts"
import { TargetAccounts } from "../../../services/social/TargetAccounts.ts"
import { separatedMax } from "../../../services/statuses/Interactions.ts"
import { Quotes } from "../../../services/statuses/Quotes.ts"
import { lockPairs } from "../../../services/visibility/Pairs.ts"
import * as IntentWriter from "../core/IntentWriter.ts"
import type { Ownership } from "../core/Ownership.ts"
import { type Commands, onAccount } from "../core/Verbs.ts"
import * as Sending from "../fanout/Sending.ts"
import * as Approving from "./Approving.ts"
import * as Quoting from "./Quoting.ts"
import * as RemovingReplies from "./RemovingReplies.ts"

/** Longest timed mute, in seconds: 100 years; a longer one is indefinite. */
const muteSecondsMax = 3_155_760_000

/**
 * Follows, requests, blocks, mutes and endorsements. Commands that create or end one lock the pair (`Pairs`), except
 * for mutes. Home and list feeds that they change are dropped, and rebuilt on the next read.
 */
export const make = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const targetAccounts = yield* TargetAccounts
  const follows = yield* Follows
  const blocks = yield* Blocks
  const mutes = yield* Mutes
  const endorsements = yield* Endorsements
  const agenda = yield* AgendaEntries
  const intend = yield* IntentWriter.make
  const activities = yield* FollowActivities
  const send = yield* Sending.make
  const notificationWriter = yield* NotificationWriter
  const feeds = yield* Feeds
  const quotes = yield* Quotes
  const quoting = yield* Quoting.make
  const removing = yield* RemovingReplies.make
  const approving = yield* Approving.make

  /** Ends a slice of a blocked account's requests, replies and quotes, and schedules the next one. */
  const separate = Effect.fnUntraced(function*(own: Ownership, blockId: bigint, target: AccountId) {
    const { accountId } = own
    const requested = yield* approving.rejectRequestsOf(own, target)
    const replied = yield* removing.removeRepliesOf(own, target)
    const quoted = yield* quotes.between(accountId, target)
    for (const id of quoted) yield* quoting.revoke(own, id)
    if (requested || replied || quoted.length === separatedMax) {
      yield* agenda.enqueue("block", blockId, accountId, yield* Clock.currentTimeMillis)
    }
  })

  /**
   * Drops the home and list feeds of `readers`: right after the commit, and by an intent in case this node dies in
   * between.
   */
  const dropHomes = Effect.fnUntraced(function*(own: Ownership, ...readers: ReadonlyArray<AccountId>) {
    if (readers.length > 0) yield* intend(own, { _tag: "homes", readers: readers })
    const dropped = yield* feedsOf(sql, readers)
    yield* sql.afterCommit(feeds.drop(dropped))
  })
  const notify = (own: Ownership, type: NewNotification["type"], to: bigint) =>
    intend(own, { _tag: "notify", type, to })

  /**
   * Ends a follow and its request. Requests always end before follows: one that is being accepted is waited for, and is
   * a follow afterwards.
   */
  const drop = Effect.fnUntraced(function*(follower: AccountId, followed: AccountId) {
    const withdrawn = yield* follows.withdraw([follower, followed])
    const ended = yield* follows.unfollow([follower, followed])
    if (ended || withdrawn) yield* notificationWriter.retractFollow(follower, followed)
    return ended
  })

  /** Locks the pair before the verb reads anything about it. */
  const paired = <C extends { readonly target: AccountId }, E>(
    verb: (own: Ownership, command: C) => Effect.Effect<CommandResponse, E>
  ) =>
  (own: Ownership, command: C): Effect.Effect<CommandResponse, E | SqlError> =>
    Effect.andThen(lockPairs(sql, [[own.accountId, command.target]]), verb(own, command))

  const verbs = {
    Follow: paired(Effect.fnUntraced(
      function*(own: Ownership, { languages, notify: wantsPosts, reblogs, target }: Commands["Follow"]) {
        const { accountId } = own
        if (target === accountId) return yield* new NotAllowed({ text: "Following your own account is not allowed" })
        const other = yield* targetAccounts.find(accountId, target)
        if (other.blocked || other.moved || !other.reachable) return yield* new NotAllowed()
        if (!(yield* follows.change([accountId, target], { showReblogs: reblogs, notify: wantsPosts, languages }))) {
          const options = { showReblogs: reblogs ?? true, notify: wantsPosts ?? false, languages }
          const { followers, following } = yield* follows.count(accountId)
          const most = other.foreignCaller ? foreignFollowsMax : Math.max(followsMax, Math.floor(followers * 1.1))
          if (following >= most) return yield* validationFailed(`You cannot follow more than ${most} people`)
          if (other.approves) yield* follows.request([accountId, target], options)
          else yield* follows.follow([accountId, target], options)
          if (other.local) yield* notify(own, other.approves ? "follow_request" : "follow", target)
          else yield* send(activities.follow(accountId, target))
        }
        yield* dropHomes(own, accountId)
        return onAccount(target)
      }
    )),
    RepeatFollow: paired(Effect.fnUntraced(function*(own: Ownership, { target }: Commands["RepeatFollow"]) {
      yield* send(activities.repeat(own.accountId, target))
      return onAccount(target)
    })),
    Unfollow: paired(Effect.fnUntraced(function*(own: Ownership, { target }: Commands["Unfollow"]) {
      const { accountId } = own
      yield* send(activities.undoFollow(accountId, target))
      yield* drop(accountId, target)
      yield* dropHomes(own, accountId)
      return onAccount(target)
    })),
    DisownFollow: paired(Effect.fnUntraced(function*({ accountId }: Ownership, { target }: Commands["DisownFollow"]) {
      yield* send(activities.disown(accountId, target))
      return onAccount(target)
    })),
    AuthorizeFollow: paired(Effect.fnUntraced(function*(own: Ownership, { target }: Commands["AuthorizeFollow"]) {
      const { accountId } = own
      if (!(yield* follows.accept([target, accountId]))) return yield* new RecordNotFound()
      // The approving account is notified of the new follower (S-267); the notification is from the follower, as for
      // any follow.
      yield* notificationWriter.retractFollow(target, accountId)
      yield* intend(own, { _tag: "notify", type: "follow", to: accountId, from: target })
      yield* send(activities.respond("Accept", accountId, target))
      yield* dropHomes(own, target)
      return onAccount(target)
    })),
    RejectFollow: paired(Effect.fnUntraced(function*(own: Ownership, { target }: Commands["RejectFollow"]) {
      const { accountId } = own
      yield* send(activities.respond("Reject", accountId, target))
      if (!(yield* follows.withdraw([target, accountId]))) return yield* new RecordNotFound()
      yield* notificationWriter.retractFollow(target, accountId)
      return onAccount(target)
    })),
    RemoveFollower: paired(Effect.fnUntraced(function*(own: Ownership, { target }: Commands["RemoveFollower"]) {
      const { accountId } = own
      yield* send(activities.respond("Reject", accountId, target))
      yield* drop(target, accountId)
      yield* dropHomes(own, target)
      return onAccount(target)
    })),
    Block: paired(Effect.fnUntraced(function*(own: Ownership, { target }: Commands["Block"]) {
      const { accountId } = own
      if (target === accountId) return yield* new NotAllowed()
      yield* targetAccounts.find(accountId, target)
      const fresh = yield* blocks.block(accountId, target)
      yield* send(activities.undoFollow(accountId, target))
      yield* send(activities.respond("Reject", accountId, target))
      if (fresh !== undefined) yield* send(activities.block(accountId, target))
      yield* drop(accountId, target)
      yield* drop(target, accountId)
      if (fresh !== undefined) yield* separate(own, fresh, target)
      yield* dropHomes(own, accountId, target)
      return onAccount(target)
    })),
    Unblock: paired(Effect.fnUntraced(function*(own: Ownership, { target }: Commands["Unblock"]) {
      const { accountId } = own
      yield* send(activities.undoBlock(accountId, target))
      yield* blocks.unblock(accountId, target)
      yield* dropHomes(own, accountId, target)
      return onAccount(target)
    })),
    Endorse: paired(Effect.fnUntraced(function*(own: Ownership, { target }: Commands["Endorse"]) {
      yield* targetAccounts.find(own.accountId, target)
      yield* endorsements.add(own.accountId, target)
      return onAccount(target)
    })),
    Unendorse: paired(Effect.fnUntraced(function*(own: Ownership, { target }: Commands["Unendorse"]) {
      yield* endorsements.remove(own.accountId, target)
      return onAccount(target)
    })),
    Mute: Effect.fnUntraced(function*(own: Ownership, { notifications, replies, seconds, target }: Commands["Mute"]) {
      const { accountId } = own
      if (target === accountId) return yield* new NotAllowed()
      yield* targetAccounts.find(accountId, target)
      const timed = seconds > 0 && seconds <= muteSecondsMax
      const expiresAt = timed ? (yield* Clock.currentTimeMillis) + seconds * 1000 : undefined
      const id = yield* mutes.mute(accountId, target, {
        hideNotifications: notifications,
        allowReplies: replies,
        expiresAt
      })
      if (expiresAt === undefined) yield* agenda.cancel("mute_end", id)
      else yield* agenda.enqueue("mute_end", id, accountId, expiresAt)
      yield* dropHomes(own, accountId)
      return onAccount(target)
    }),
    Unmute: Effect.fnUntraced(function*(own: Ownership, { target }: Commands["Unmute"]) {
      const { accountId } = own
      const removed = yield* mutes.unmute(accountId, target)
      if (removed !== undefined) yield* agenda.cancel("mute_end", removed)
      yield* dropHomes(own, accountId)
      return onAccount(target)
    })
  }

  return {
    verbs,
    /** Ends the next slice of what a block ends, in the current transaction. */
    blockDue: Effect.fnUntraced(function*(own: Ownership, blockId: bigint) {
      const target = yield* blocks.targetOf(own.accountId, blockId)
      if (target !== undefined) yield* lockPairs(sql, [[own.accountId, target]])
      if (target !== undefined) yield* separate(own, blockId, target)
    }),
    /** Ends an expired mute, in the current transaction. */
    muteEnd: Effect.fnUntraced(function*(own: Ownership, muteId: bigint) {
      const { accountId } = own
      if (yield* mutes.expire(accountId, muteId)) yield* dropHomes(own, accountId)
    })
  }
})
