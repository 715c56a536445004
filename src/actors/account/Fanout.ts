import { Clock, Effect, Schedule } from "effect"
import { isSqlError, type SqlError } from "effect/sql/SqlError"
import { Fanouts, fanoutsRoundMax, type Progress } from "../../services/intents/Fanouts.ts"
import type { Intent } from "../../services/intents/Intent.ts"
import { AccountActors } from "./AccountActors.ts"
import * as Backlog from "./Backlog.ts"
import * as Delete from "./fanout/Delete.ts"
import * as Deliver from "./fanout/Deliver.ts"
import * as Edit from "./fanout/Edit.ts"
import * as Homes from "./fanout/Homes.ts"
import * as Move from "./fanout/Move.ts"
import * as Notify from "./fanout/Notify.ts"
import * as PollEnd from "./fanout/PollEnd.ts"
import * as Publish from "./fanout/Publish.ts"
import * as Report from "./fanout/Report.ts"
import type { Owners, Ownership } from "./Ownership.ts"

/** How often a busy fan-out says that it is busy, in milliseconds; an idle entity is put away after minutes. */
const awakeMillis = 20_000

/**
 * The account's fan-out: works off the intents that its commands left, a slice of each a round, the oldest first. A
 * slice writes feeds, notifications and its cursor, then tells the streams; a crash at any point repeats at most one
 * slice, whose effects are sets.
 */
export const make = Effect.fnUntraced(function*(owners: Owners) {
  const actors = yield* AccountActors
  const fanouts = yield* Fanouts
  const publish = yield* Publish.make(owners)
  const edit = yield* Edit.make(owners)
  const remove = yield* Delete.make(owners)
  const endPoll = yield* PollEnd.make(owners)
  const notify = yield* Notify.make(owners)
  const report = yield* Report.make(owners)
  const dropHomes = yield* Homes.make(owners)
  const move = yield* Move.make(owners)
  const deliver = yield* Deliver.make(owners)

  /** The next slice of an intent, by its kind. */
  const slice = (own: Ownership, at: Progress, intent: Intent) => {
    switch (intent._tag) {
      case "publish":
        return publish(own, at, intent)
      case "edit":
      case "card":
        return edit(own, at, intent)
      case "delete":
        return remove(own, at, intent)
      case "poll":
        return endPoll(own, at, intent)
      case "notify":
        return notify(own, at, intent)
      case "report":
        return report(own, at, intent)
      case "homes":
        return dropHomes(own, at, intent)
      case "move":
        return move(own, at, intent)
      case "deliver":
        return deliver(own, at, intent)
    }
  }

  /** The rows that wait, and whether there may be more of them. */
  const ask = Effect.fnUntraced(function*({ accountId, backlog }: Ownership) {
    Backlog.takeKnown(backlog)
    backlog.unread = false
    backlog.asked++
    const rows = yield* fanouts.claim(accountId).pipe(
      Effect.ensuring(Effect.sync(() => backlog.asked++)),
      Effect.tapError(() => Effect.sync(() => backlog.unread = true))
    )
    if (rows.length === fanoutsRoundMax) backlog.unread = true
    return rows
  })

  /** One slice of every waiting intent; false where none moved, unless the database failed. None holds up the others. */
  const round = Effect.fnUntraced(function*(own: Ownership, { backlog } = own) {
    const waiting = backlog.unread ? yield* ask(own) : Backlog.takeKnown(backlog)
    let moved = 0, failed: SqlError | undefined
    for (const fanout of waiting) {
      const over = yield* slice(own, fanout, fanout.intent).pipe(
        // What waits was read before this node owned the account, and the owner before went on with it.
        Effect.catchTag("DoneElsewhere", () => Effect.succeed(false)),
        Effect.withSpan("Account.fanout", { attributes: { kind: fanout.intent._tag, phase: fanout.phase } }),
        Effect.tapError((error) => Effect.sync(() => failed = isSqlError(error) ? error : failed)),
        Effect.catchCause((cause) => Effect.as(Effect.logError("a fan-out slice failed", cause), undefined))
      )
      if (over !== undefined) moved++
      if (over !== true) backlog.unread = true
    }
    return moved > 0 || (failed !== undefined && (yield* failed))
  })

  /** Works until nothing is left that moves; a message to itself now and then keeps a busy entity from going idle. */
  const drain = Effect.fnUntraced(
    function*(own: Ownership) {
      let awakeSince = yield* Clock.currentTimeMillis
      do {
        own.backlog.rung = false
        while (Backlog.hasWork(own.backlog) && (yield* round(own))) {
          const now = yield* Clock.currentTimeMillis
          if (now - awakeSince < awakeMillis) continue
          awakeSince = now
          yield* actors.wake(own.accountId)
        }
      } while (own.backlog.rung)
      own.backlog.running = false
    },
    (drained, own) =>
      drained.pipe(
        Effect.retry({ schedule: Schedule.exponential("200 millis"), times: 4 }),
        Effect.catchCause((cause) => {
          own.backlog.running = false
          return Effect.logError("fan-out stopped", cause)
        })
      )
  )

  /** Has the fan-out work off what there is; one that works already looks once more after what it does now. */
  const wake = (own: Ownership) =>
    Effect.suspend(() => {
      const { backlog } = own
      if (!Backlog.hasWork(backlog)) return Effect.void
      backlog.rung = true
      if (backlog.running) return Effect.void
      backlog.running = true
      return Effect.asVoid(Effect.forkIn(drain(own), backlog.scope))
    })

  return { wake }
})
