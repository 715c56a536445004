import { Clock, Context, Effect, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import { isSqlError, type SqlError } from "effect/sql/SqlError"
import { Broadcast } from "../../services/Broadcast.ts"
import { Feeds } from "../../services/feeds/Feeds.ts"
import { NotificationWriter } from "../../services/feeds/NotificationWriter.ts"
import { fewReadersMax, type ReaderSlice, StatusReaders } from "../../services/feeds/StatusReaders.ts"
import { AccountId } from "../../services/Ids.ts"
import { type Fanout, Fanouts, fanoutsRoundMax, senderOf } from "../../services/intents/Fanouts.ts"
import { ConversationWriter } from "../../services/statuses/ConversationWriter.ts"
import { Polls } from "../../services/statuses/Polls.ts"
import { Reblogs } from "../../services/statuses/Reblogs.ts"
import { AccountActors } from "./AccountActors.ts"
import * as Backlog from "./Backlog.ts"
import * as FeedWriting from "./FeedWriting.ts"
import * as Moving from "./Moving.ts"
import * as NotifyOne from "./NotifyOne.ts"
import * as Outgoing from "./Outgoing.ts"
import type { Owners, Ownership } from "./Ownership.ts"
import * as StreamPublishing from "./StreamPublishing.ts"

/** Followers that one transaction serves, so that no post delays another by more than that. */
export const sliceRowsMax = 1_000
/** The same, as the fan-out takes it; simulations have slices of a few, so that few followers are enough for several. */
export const SliceRows = Context.Reference("murmuration/actors/account/SliceRows", { defaultValue: () => sliceRowsMax })

/** How often a busy fan-out says that it is busy, in milliseconds; an idle entity is put away after minutes. */
const awakeMillis = 20_000

/**
 * The account's fan-out: works off the intents that its commands left, a slice of each a round, the oldest first. A
 * slice writes feeds, notifications and its cursor, then tells the streams; a crash at any point repeats at most one
 * slice, whose effects are sets.
 */
export const make = Effect.fnUntraced(function*(owners: Owners) {
  const { current, owned, ownerRow } = owners
  const actors = yield* AccountActors
  const sql = yield* SqlClient.SqlClient
  const fanouts = yield* Fanouts
  const { advance, finish } = fanouts
  const [readers, feeds, writer] = [yield* StatusReaders, yield* Feeds, yield* NotificationWriter]
  const threads = yield* ConversationWriter
  const reblogs = yield* Reblogs
  const broadcast = yield* Broadcast
  const polls = yield* Polls
  const sliceRows = yield* SliceRows
  const outgoing = yield* Outgoing.make(owners, sliceRows)
  const handOver = yield* Moving.handOver
  const push = yield* FeedWriting.make(sliceRows)

  const { conversationsChanged } = yield* StreamPublishing.make
  const tellAtOnce = yield* NotifyOne.make(owners)

  /** Runs once for a new or edited status, before its followers. */
  const open = Effect.fnUntraced(function*(author: AccountId, { kind, phase, statusId }: OfStatus, slice: ReaderSlice) {
    if (phase > 0) return
    if (slice.mentioned.length > 0) yield* writer.tellReaders("mention", author, statusId, slice.mentioned)
    if (kind === "edit") yield* writer.edited(author, statusId)
    if (slice.visibility === "direct" && !slice.limited) yield* conversationsChanged(yield* threads.record(statusId))
    yield* outgoing.begin(author, statusId, kind === "edit" ? "Update" : "Create", slice.federates)
  })

  /** A slice of a new or edited status. */
  const spread = Effect.fnUntraced(function*(accountId: AccountId, fanout: OfStatus) {
    const { cursor, details, kind, phase, statusId } = fanout
    const since = yield* Clock.currentTimeMillis
    const slice = yield* readers.readers(statusId, accountId, cursor, sliceRows)
    if (slice === undefined) return yield* finish(fanout)
    yield* open(accountId, fanout, slice)
    let accountIds = phase === 0 ? [accountId, ...slice.readers] : slice.readers
    if (kind === "publish") {
      accountIds = yield* push({ author: accountId, statusId, audience: slice, cursor, since }, accountIds)
      if (slice.subscribers.length > 0) {
        yield* writer.tellReaders("status", accountId, statusId, slice.subscribers)
      }
    }
    yield* sql.afterCommit(broadcast.publish({
      _tag: "StatusEvent",
      event: kind === "publish" ? "update" : "status.update",
      statusId: slice.statusId,
      accountIds,
      channels: phase === 0 ? slice.channels : [],
      ...(details !== null && "editedAt" in details ? details : {})
    }))
    return yield* slice.cursor === undefined ? finish(fanout) : advance(fanout, 1, slice.cursor)
  })

  /**
   * A new status with few readers, as most are: after the feeds, one statement tells whom it mentions and
   * closes the intent, a transaction of its own that does both under the owner's epoch or nothing. Undefined where it takes
   * more than that, and nothing is done.
   */
  const atOnce = Effect.fnUntraced(function*(own: Ownership, fanout: OfStatus) {
    const { accountId } = own
    const { id, statusId } = fanout
    const since = yield* Clock.currentTimeMillis
    const slice = yield* sliceRows < fewReadersMax
      ? readers.readers(statusId, accountId, 0n, sliceRows)
      : readers.fewReaders(statusId, accountId)
    if (slice === undefined || slice.cursor !== undefined || slice.subscribers.length > 0) return undefined
    if (slice.visibility === "direct" || slice.federates) return undefined
    const asked = { author: accountId, statusId, audience: slice, cursor: 0n, since }
    const accountIds = yield* push(asked, [accountId, ...slice.readers])
    const finishing = slice.mentioned.length === 0 ? undefined : fanouts.finishing(id, yield* ownerRow(own))
    const closed = finishing === undefined
      ? yield* fanouts.close({ id, owner: (yield* current(own)).owner })
      : yield* writer.tellReadersAndClose("mention", accountId, statusId, slice.mentioned, finishing)
    // Somebody else owns the account or has done it; the transaction finds out.
    if (!closed) return undefined
    yield* broadcast.publish({
      _tag: "StatusEvent",
      event: "update",
      statusId: slice.statusId,
      accountIds,
      channels: slice.channels
    })
    return true
  })

  /** A slice of a deleted status: first its reblogs go, then the streams of all followers hear of it. */
  const erase = Effect.fnUntraced(function*(accountId: AccountId, fanout: OfStatus) {
    const { cursor, phase, statusId } = fanout
    if (phase === 0) {
      yield* conversationsChanged(yield* threads.erase(statusId))
      const gone = yield* reblogs.removeAll(statusId, cursor, sliceRows, yield* Clock.currentTimeMillis)
      yield* writer.retract(gone)
      const last = gone.at(-1)
      if (cursor === 0n) yield* outgoing.begin(accountId, statusId, "Delete", false)
      return yield* last === undefined || gone.length < sliceRows ? advance(fanout, 1, 0n) : advance(fanout, 0, last)
    }
    const slice = yield* readers.followers(accountId, statusId, cursor, sliceRows)
    yield* sql.afterCommit(broadcast.publish({
      _tag: "StatusDeleted",
      statusId: slice.statusId,
      accountIds: phase === 1 ? [accountId, ...slice.readers] : slice.readers,
      channels: phase === 1 ? slice.channels : []
    }))
    return yield* slice.cursor === undefined ? finish(fanout) : advance(fanout, 2, slice.cursor)
  })

  /** A slice of those who voted, by their ids; the author is told before them. */
  const close = Effect.fnUntraced(function*(accountId: AccountId, fanout: OfStatus) {
    const { cursor, phase, statusId } = fanout
    const voters = yield* polls.voters(statusId, cursor, sliceRows)
    if (phase === 0) yield* outgoing.begin(accountId, statusId, "Update", false)
    yield* writer.tellReaders("poll", accountId, statusId, phase === 0 ? [accountId, ...voters] : voters)
    const last = voters.at(-1)
    return yield* last === undefined || voters.length < sliceRows ? finish(fanout) : advance(fanout, 1, last)
  })

  const stepOf = { delete: erase, poll: close, publish: spread, edit: spread } as const
  const step = Effect.fnUntraced(function*(accountId: AccountId, fanout: Fanout) {
    const { details, kind, statusId } = fanout
    if (details !== null) {
      if ("movedTo" in details) return yield* handOver(accountId, fanout, details.movedTo)
      if ("report" in details) yield* writer.tellStaff("admin.report", accountId, BigInt(details.report))
      else if ("readers" in details) yield* feeds.drop(details.readers.map((reader) => AccountId.make(BigInt(reader))))
      else if ("to" in details) yield* writer.tell(senderOf(accountId, details), details)
    }
    if (statusId === null || kind === "notify" || kind === "homes" || kind === "move" || kind === "deliver") {
      return yield* finish(fanout)
    }
    return yield* stepOf[kind](accountId, { ...fanout, statusId })
  })

  const slice = Effect.fnUntraced(function*(own: Ownership, fanout: Fanout) {
    const { details, kind, phase, statusId } = fanout
    if (kind === "deliver") return yield* outgoing.slice(own, fanout)
    const simple = kind === "publish" && phase === 0 && details === null && statusId !== null
    const notice = kind === "notify" && details !== null && "to" in details ? details : undefined
    const done = simple
      ? yield* atOnce(own, { ...fanout, statusId })
      : notice && (yield* tellAtOnce(own, fanout.id, notice))
    if (done !== undefined) return done
    // It may have left an intent for other servers.
    own.backlog.unread ||= statusId !== null
    return yield* owned(own, step(own.accountId, fanout))
  })

  /** The rows that wait, and whether there may be more of them. */
  const ask = Effect.fnUntraced(function*({ accountId, backlog }: Ownership) {
    Backlog.takeKnown(backlog)
    backlog.unread = false
    backlog.asked++
    const rows = yield* fanouts.waiting(accountId).pipe(
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
      const over = yield* slice(own, fanout).pipe(
        // The intents were read before this node owned the account, and the previous owner went on with them.
        Effect.catchTag("DoneElsewhere", () => Effect.succeed(false)),
        Effect.withSpan("Account.fanout", { attributes: { kind: fanout.kind, phase: fanout.phase } }),
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

type OfStatus = Fanout & { readonly statusId: bigint }
