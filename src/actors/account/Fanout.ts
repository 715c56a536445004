import { Clock, Context, Effect, Queue, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import { Broadcast } from "../../services/Broadcast.ts"
import { type Audience, Audiences } from "../../services/feeds/Audiences.ts"
import { Feeds } from "../../services/feeds/Feeds.ts"
import { Notices, type Written } from "../../services/feeds/Notices.ts"
import { AccountId } from "../../services/Ids.ts"
import { type Fanout, Fanouts, fanoutsRoundMax } from "../../services/intents/Fanouts.ts"
import { DirectThreads } from "../../services/statuses/DirectThreads.ts"
import { Reblogs } from "../../services/statuses/Reblogs.ts"
import { Accounts } from "./Accounts.ts"
import type { Ownership } from "./Ownership.ts"

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
export const make = Effect.fnUntraced(function*(ownership: Ownership) {
  const { accountId, owned } = ownership
  const accounts = yield* Accounts
  const sql = yield* SqlClient.SqlClient
  const fanouts = yield* Fanouts
  const audiences = yield* Audiences
  const feeds = yield* Feeds
  const notices = yield* Notices
  const threads = yield* DirectThreads
  const reblogs = yield* Reblogs
  const broadcast = yield* Broadcast
  const sliceRows = yield* SliceRows

  const told = (written: ReadonlyArray<Written>) =>
    sql.afterCommit(
      Effect.forEach(written, ({ accountId, id }) =>
        broadcast.publish({ _tag: "NotificationCreated", accountId: AccountId.make(accountId), notificationId: id }), {
        discard: true
      })
    )
  const threadsChanged = (changes: ReadonlyArray<Written>) =>
    sql.afterCommit(
      Effect.forEach(changes, ({ accountId, id }) =>
        broadcast.publish({ _tag: "ConversationChanged", accountId: AccountId.make(accountId), conversationId: id }), {
        discard: true
      })
    )

  /** How a step ends: true where nothing of its intent is left. */
  const finish = (id: bigint) => Effect.as(fanouts.finish([id]), true)
  const advance = (id: bigint, phase: number, cursor: bigint) => Effect.as(fanouts.advance(id, phase, cursor), false)

  /** What comes once for a new or edited status, before its followers. */
  const open = Effect.fnUntraced(function*(
    { kind, phase, statusId }: Fanout & { readonly statusId: bigint },
    { visibility }: Audience
  ) {
    if (phase > 0) return
    yield* told(yield* notices.mentions(accountId, statusId))
    if (kind === "edit") yield* told(yield* notices.edited(accountId, statusId))
    if (visibility === "direct") yield* threadsChanged(yield* threads.record(statusId))
  })

  /** A slice of a new or edited status. */
  const spread = Effect.fnUntraced(function*(fanout: Fanout & { readonly statusId: bigint }) {
    const { cursor, id, kind, phase, statusId } = fanout
    const audience = yield* audiences.of(statusId)
    if (audience === undefined) return yield* finish(id)
    yield* open(fanout, audience)
    const slice = yield* audiences.readers(audience, cursor, sliceRows)
    const accountIds = phase === 0 ? [accountId, ...slice.readers] : slice.readers
    if (kind === "publish") {
      yield* feeds.push(accountIds, { id: statusId, reblogOf: audience.reblogOfId ?? undefined })
      if (slice.subscribers.length > 0) yield* told(yield* notices.subscribers(accountId, statusId, slice.subscribers))
    }
    yield* sql.afterCommit(broadcast.publish({
      _tag: "StatusEvent",
      event: kind === "publish" ? "update" : "status.update",
      statusId: audience.statusId,
      accountIds,
      channels: phase === 0 ? audience.channels : []
    }))
    return yield* slice.cursor === undefined ? finish(id) : advance(id, 1, slice.cursor)
  })

  /** A slice of a deleted status: first its reblogs go, then the streams of all followers hear of it. */
  const erase = Effect.fnUntraced(function*({ cursor, id, phase, statusId }: Fanout & { readonly statusId: bigint }) {
    if (phase === 0) {
      yield* threadsChanged(yield* threads.erase(statusId))
      const gone = yield* reblogs.removeAll(statusId, cursor, sliceRows, yield* Clock.currentTimeMillis)
      yield* notices.retract(gone)
      const last = gone.at(-1)
      return yield* last === undefined || gone.length < sliceRows
        ? advance(id, 1, 0n)
        : advance(id, 0, last)
    }
    const slice = yield* audiences.followers(accountId, statusId, cursor, sliceRows)
    yield* sql.afterCommit(broadcast.publish({
      _tag: "StatusDeleted",
      statusId: slice.statusId,
      accountIds: phase === 1 ? [accountId, ...slice.readers] : slice.readers,
      channels: phase === 1 ? slice.channels : []
    }))
    return yield* slice.cursor === undefined ? finish(id) : advance(id, 2, slice.cursor)
  })

  const step = Effect.fnUntraced(function*(fanout: Fanout) {
    const { details, id, kind, statusId } = fanout
    if (details !== null) {
      if ("readers" in details) yield* feeds.drop(details.readers.map((reader) => AccountId.make(BigInt(reader))))
      else {
        const from = details.from === undefined ? accountId : BigInt(details.from)
        yield* told(yield* notices.tell(from, details))
      }
    }
    if (statusId === null) return yield* finish(id)
    return yield* kind === "delete" ? erase({ ...fanout, statusId }) : spread({ ...fanout, statusId })
  })

  /** One slice of every waiting intent; true while there may be more of what it saw; of newer ones the bell tells. An intent that fails does not hold up the others. */
  const round = Effect.gen(function*() {
    const waiting = yield* fanouts.waiting(accountId)
    let [moved, finished] = [0, 0]
    for (const fanout of waiting) {
      yield* owned(step(fanout)).pipe(
        Effect.tap((over) =>
          Effect.sync(() => {
            moved++
            if (over) finished++
          })
        ),
        Effect.withSpan("Account.fanout", { attributes: { kind: fanout.kind, phase: fanout.phase } }),
        Effect.catchCause((cause) => Effect.logError("a fan-out slice failed", cause))
      )
    }
    return moved > 0 && (finished < waiting.length || waiting.length === fanoutsRoundMax)
  })

  /** Works until nothing is left that moves; a message to itself now and then keeps a busy entity from going idle. */
  const drain = Effect.gen(function*() {
    let awakeSince = yield* Clock.currentTimeMillis
    while (yield* round) {
      const now = yield* Clock.currentTimeMillis
      if (now - awakeSince < awakeMillis) continue
      awakeSince = now
      yield* accounts.wake(accountId)
    }
  }).pipe(
    Effect.retry({ schedule: Schedule.exponential("200 millis"), times: 4 }),
    Effect.catchCause((cause) => Effect.logError("fan-out stopped", cause))
  )
  const bell = yield* Queue.sliding<void>(1)
  yield* Queue.take(bell).pipe(Effect.andThen(drain), Effect.forever, Effect.forkScoped)
  /** Has the fan-out look for work; it looks once more after what it does now. */
  const wake = Effect.asVoid(Queue.offer(bell, undefined))
  // Whoever owned the account before may have left work behind.
  yield* wake
  return { wake }
})
