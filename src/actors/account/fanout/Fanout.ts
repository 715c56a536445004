import { Clock, Effect, Schedule } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import { databaseErrorIn } from "../../../services/database/Transactions.ts"
import { Fanouts, fanoutsRoundMax, type Progress } from "../../../services/intents/Fanouts.ts"
import type { Intent } from "../../../services/intents/Intent.ts"
import { continued } from "../../../services/runtime/TraceParents.ts"
import { AccountActors } from "../core/AccountActors.ts"
import * as Backlog from "../core/Backlog.ts"
import type { Owners, Ownership } from "../core/Ownership.ts"
import * as Delete from "./Delete.ts"
import * as Deliver from "./Deliver.ts"
import * as Edit from "./Edit.ts"
import * as KeptOut from "./KeptOut.ts"
import * as Move from "./Move.ts"
import * as Notify from "./Notify.ts"
import * as PollEnd from "./PollEnd.ts"
import * as Publish from "./Publish.ts"
import * as RecordFollowers from "./RecordFollowers.ts"
import * as Report from "./Report.ts"
import * as StaleFeeds from "./StaleFeeds.ts"

/** Interval at which a busy fan-out sends its entity a message, in milliseconds; idle entities are evicted after minutes. */
const awakeMillis = 20_000

/**
 * The account's fan-out. Processes the intents of its commands, one slice of each per round, the oldest first. A slice
 * writes feeds, notifications and its cursor, then publishes to the streams. A crash repeats at most one slice, whose
 * effects are idempotent.
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
  const invalidateFeeds = yield* StaleFeeds.make(owners)
  const keepOut = yield* KeptOut.make(owners)
  const recordFollowers = yield* RecordFollowers.make(owners)
  const move = yield* Move.make(owners)
  const deliver = yield* Deliver.make(owners)

  /** Runs the next slice of an intent, by its kind. */
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
        return invalidateFeeds(own, at, intent)
      case "kept_out":
        return keepOut(own, at, intent)
      case "record_followers":
        return recordFollowers(own, at, intent)
      case "move":
        return move(own, at, intent)
      case "deliver":
        return deliver(own, at, intent)
    }
  }

  /** Reads the pending rows. Marks the backlog `unread` if there may be more. */
  const ask = Effect.fnUntraced(function*({ accountId, backlog }: Ownership) {
    Backlog.takeKnown(backlog)
    backlog.unread = false
    backlog.reads++
    const rows = yield* fanouts.claim(accountId).pipe(
      Effect.ensuring(Effect.sync(() => backlog.reads++)),
      Effect.tapError(() => Effect.sync(() => backlog.unread = true))
    )
    if (rows.length === fanoutsRoundMax) backlog.unread = true
    return rows
  })

  /**
   * Runs one slice of every pending intent; a failing one does not hold up the others. Returns false if none advanced.
   * Fails if none advanced and the database failed.
   */
  const round = Effect.fnUntraced(function*(own: Ownership, { backlog } = own) {
    const waiting = backlog.unread ? yield* ask(own) : Backlog.takeKnown(backlog)
    let moved = 0, failed: SqlError | undefined
    for (const fanout of waiting) {
      const over = yield* slice(own, fanout, fanout.intent).pipe(
        // The intent was read before this node owned the account, and the previous owner advanced it.
        Effect.catchTag("StaleProgress", () => Effect.succeed(false)),
        continued("Fanout.slice", fanout.traceParent, { kind: fanout.intent._tag, phase: fanout.phase }),
        Effect.catchCause((cause) => {
          failed = databaseErrorIn(cause) ?? failed
          return Effect.as(Effect.logError("a fan-out slice failed", cause), undefined)
        })
      )
      if (over !== undefined) moved++
      if (over !== true) backlog.unread = true
    }
    return moved > 0 || (failed !== undefined && (yield* failed))
  })

  /**
   * Runs rounds until no intent advances. Sends the actor a message every 20 seconds so that a busy entity is not
   * evicted.
   */
  const drain = Effect.fnUntraced(
    function*(own: Ownership) {
      let awakeSince = yield* Clock.currentTimeMillis
      do {
        own.backlog.wakeRequested = false
        while (Backlog.hasWork(own.backlog) && (yield* round(own))) {
          const now = yield* Clock.currentTimeMillis
          if (now - awakeSince < awakeMillis) continue
          awakeSince = now
          yield* actors.wake(own.accountId)
        }
      } while (own.backlog.wakeRequested)
      own.backlog.running = false
    },
    (drained, own) =>
      drained.pipe(
        Effect.retry({ schedule: Schedule.exponential("200 millis"), times: 4 }),
        Effect.catchCause((cause) => {
          own.backlog.running = false
          return Effect.logError("a fan-out failed; the agenda will resume it", cause)
        })
      )
  )

  /** Starts the fan-out. If it already runs, it checks for work once more after its current round. */
  const wake = (own: Ownership) =>
    Effect.suspend(() => {
      const { backlog } = own
      if (!Backlog.hasWork(backlog)) return Effect.void
      backlog.wakeRequested = true
      if (backlog.running) return Effect.void
      backlog.running = true
      return Effect.asVoid(Effect.forkIn(drain(own), backlog.scope))
    })

  return { wake }
})
