import { Clock, Effect, Metric } from "effect"
import { batchRequests } from "../../services/database/Batches.ts"
import {
  type CompletedDelivery,
  Deliveries,
  type Delivery,
  type DeliveryClaim,
  type FailedDelivery
} from "../../services/federation/outbox/Deliveries.ts"
import { deliveryBackoff, lowDeliveryBackoff } from "../../services/federation/outbox/Retries.ts"
import * as Backoff from "../../services/runtime/Backoff.ts"
import { continued } from "../../services/runtime/TraceParents.ts"
import * as DeliveryAttempt from "./DeliveryAttempt.ts"
import * as DeliveryOutcomes from "./DeliveryOutcomes.ts"
import * as HostState from "./HostState.ts"

/** Time in which a round starts new requests, in milliseconds; its claims last longer. */
const beginMillisMax = 5_000

/**
 * Maximum hosts whose claims are batched into one query, and concurrent queries; interactive queries run in between.
 */
const claimBatchMax = 64
const claimConcurrency = 2

/** Outcomes after which a running round writes them: a crash repeats no more than these. */
const outcomeBatchRows = 8

const deliveriesMade = Metric.counter("murmuration_deliveries_total", { description: "Delivery attempts, by outcome" })
const countersOf = {
  Taken: Metric.withAttributes(deliveriesMade, { outcome: "delivered" }),
  Refused: Metric.withAttributes(deliveriesMade, { outcome: "refused" }),
  Gone: Metric.withAttributes(deliveriesMade, { outcome: "gone" }),
  Failed: Metric.withAttributes(deliveriesMade, { outcome: "failed" })
}

/** Returns the reason for a delivery that will not be retried; undefined if it was accepted. */
const refusalOf = (verdict: DeliveryAttempt.Verdict): string | undefined => {
  if (verdict._tag === "Taken") return undefined
  return verdict._tag === "Gone" ? "410" : verdict.why
}

interface Attempted {
  readonly delivery: Delivery
  readonly verdict: DeliveryAttempt.Verdict
}

/** Processes a host's due deliveries, a bounded number per round. */
export const make = Effect.gen(function*() {
  const deliveries = yield* Deliveries
  const attempt = yield* DeliveryAttempt.make
  const store = yield* DeliveryOutcomes.make
  const claims = batchRequests(
    { max: claimBatchMax, concurrency: claimConcurrency },
    (batch: ReadonlyArray<DeliveryClaim>) =>
      Effect.map(deliveries.claim(batch), (taken) => ({ host }: DeliveryClaim) => taken.get(host) ?? [])
  )

  /** Returns the time of the next attempt; undefined after the last one. */
  const nextAttemptAt = Effect.fnUntraced(function*(state: HostState.HostState, { low, tries }: Delivery, now: number) {
    const delay = yield* Backoff.next(low ? lowDeliveryBackoff : deliveryBackoff, tries)
    return delay === undefined ? undefined : Math.max(state.pausedUntil, now + delay)
  })

  /** Writes the outcomes of a round's deliveries. The host may or may not have received an interrupted delivery. */
  const writeOutcomes = Effect.fnUntraced(function*(
    state: HostState.HostState,
    done: ReadonlyArray<Attempted>,
    interrupted: Iterable<Delivery>,
    untried: ReadonlyArray<Delivery>
  ) {
    const now = yield* Clock.currentTimeMillis
    const completed: Array<CompletedDelivery> = []
    const failed: Array<FailedDelivery> = []
    for (const { delivery, verdict } of done) {
      if (verdict._tag === "Gone") yield* Effect.ignore(deliveries.failInbox(delivery.inboxId))
      if (verdict._tag === "Taken" && delivery.gone) yield* Effect.ignore(deliveries.reviveInbox(delivery.inboxId))
      const dueAt = verdict._tag === "Failed" ? yield* nextAttemptAt(state, delivery, now) : undefined
      if (verdict._tag === "Failed" && dueAt !== undefined) failed.push({ ...delivery, dueAt, error: verdict.why })
      else completed.push({ ...delivery, refusal: refusalOf(verdict) })
    }
    for (const [outcome, some] of Map.groupBy(done, ({ verdict }) => verdict._tag)) {
      yield* Metric.update(countersOf[outcome], some.length)
    }
    // The host may receive these twice, and dedupes them by id.
    for (const delivery of interrupted) failed.push({ ...delivery, dueAt: now, error: "interrupted by this server" })
    const dueAt = Math.max(now, state.pausedUntil)
    yield* store({
      host: state.host,
      completed,
      failed,
      untried: untried.map((delivery) => ({ ...delivery, dueAt })),
      ...hostChanges(state, done, now)
    })
  })

  /** Returns changes in the state of the host itself. */
  const hostChanges = (
    state: HostState.HostState,
    done: ReadonlyArray<Attempted>,
    now: number
  ): Pick<DeliveryOutcomes.DeliveryOutcome, "works" | "fails"> => {
    const taken = done.findLast(({ verdict }) => verdict._tag === "Taken")
    if (taken !== undefined && taken.verdict._tag === "Taken") {
      const { scheme } = taken.verdict
      if (!taken.delivery.troubled && taken.delivery.scheme === scheme && state.failedDay < 0) return {}
      state.failedDay = -1
      return { works: scheme }
    }
    const failure = done.findLast(({ verdict }) => verdict._tag === "Failed")
    const day = Math.floor(now / 86_400_000)
    if (failure === undefined || failure.verdict._tag !== "Failed" || state.failedDay === day) return {}
    state.failedDay = day
    return { fails: failure.verdict.why }
  }

  const updateHostState = (state: HostState.HostState, verdict: DeliveryAttempt.Verdict, now: number) => {
    if (verdict._tag !== "Failed") return HostState.succeeded(state)
    if (verdict.down) HostState.failed(state, now)
    if (verdict.waitSeconds !== undefined) HostState.pause(state, now + verdict.waitSeconds * 1_000)
  }

  /** Attempts the claimed deliveries concurrently. All outcomes are written, even on interruption. */
  const attemptAll = (
    state: HostState.HostState,
    claimed: ReadonlyArray<Delivery>,
    began: number,
    restore: <A>(effect: Effect.Effect<A>) => Effect.Effect<A>
  ) => {
    const underWay = new Set<Delivery>()
    const done: Array<Attempted> = []
    let next = 0
    const worker = Effect.gen(function*() {
      for (let delivery = claimed[next]; delivery !== undefined; delivery = claimed[next]) {
        const now = yield* Clock.currentTimeMillis
        if (now < state.pausedUntil || now - began > beginMillisMax) return
        next++
        underWay.add(delivery)
        const verdict = yield* attempt(delivery).pipe(
          continued("DeliveryRound.attempt", delivery.traceParent, { host: state.host, tries: delivery.tries })
        )
        underWay.delete(delivery)
        done.push({ delivery, verdict })
        updateHostState(state, verdict, yield* Clock.currentTimeMillis)
        if (done.length >= outcomeBatchRows) yield* Effect.uninterruptible(writeOutcomes(state, done.splice(0), [], []))
      }
    })
    const workers = Array.from({ length: Math.min(HostState.slots(state), claimed.length) }, () => worker)
    return restore(Effect.all(workers, { concurrency: "unbounded", discard: true })).pipe(
      Effect.ensuring(Effect.suspend(() => writeOutcomes(state, done, underWay, claimed.slice(next))))
    )
  }

  /** Runs a round. Returns true if there may be more work now. */
  return Effect.fnUntraced(function*(state: HostState.HostState) {
    const began = yield* Clock.currentTimeMillis
    if (began < state.pausedUntil) return false
    return yield* Effect.uninterruptibleMask((restore) =>
      Effect.gen(function*() {
        // Uninterruptible until the claim is known, so that an interrupted round releases its deliveries.
        const taken = yield* claims({ host: state.host, rows: HostState.rows(state) })
        if (taken.length === 0) return false
        // Oldest first; concurrent requests may still overtake each other.
        const claimed = taken.toSorted((a, b) => a.activityId < b.activityId ? -1 : 1)
        yield* attemptAll(state, claimed, yield* Clock.currentTimeMillis, restore)
        return true
      })
    )
  })
})
