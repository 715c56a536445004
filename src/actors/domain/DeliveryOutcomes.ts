import { Effect } from "effect"
import { batchRequests } from "../../services/database/Batches.ts"
import {
  type CompletedDelivery,
  Deliveries,
  type FailedDelivery,
  type ReleasedDelivery
} from "../../services/federation/outbox/Deliveries.ts"
import { DeliveryHosts } from "../../services/federation/outbox/DeliveryHosts.ts"
import type { Scheme } from "../../services/federation/signatures/Signatures.ts"

/** Maximum hosts whose outcomes are written together. */
const hostsMax = 64

/** Outcomes of a host's deliveries. */
export interface DeliveryOutcome {
  readonly host: string
  /** Accepted, or not to be retried. */
  readonly completed: ReadonlyArray<CompletedDelivery>
  readonly failed: ReadonlyArray<FailedDelivery>
  readonly untried: ReadonlyArray<ReleasedDelivery>
  /** The host works again, or wants another scheme: the scheme it accepts. */
  readonly works?: Scheme | undefined
  /** First failure of the host today: its reason. */
  readonly fails?: string | undefined
}

/**
 * Writes the outcomes of deliveries, batched over hosts. Never fails: deliveries without a stored outcome are retried.
 */
export const make = Effect.gen(function*() {
  const deliveries = yield* Deliveries
  const deliveryHosts = yield* DeliveryHosts

  const write = Effect.fnUntraced(function*(outcomes: ReadonlyArray<DeliveryOutcome>) {
    yield* deliveries.complete(outcomes.flatMap(({ completed }) => completed))
    yield* deliveries.retry(outcomes.flatMap(({ failed }) => failed))
    yield* deliveries.release(outcomes.flatMap(({ untried }) => untried))
    yield* deliveryHosts.succeeded(
      outcomes.flatMap(({ host, works: scheme }) => scheme === undefined ? [] : [{ host, scheme }])
    )
    for (const { fails, host } of outcomes) if (fails !== undefined) yield* deliveryHosts.failed(host, fails)
  })
  const run = (outcomes: ReadonlyArray<DeliveryOutcome>) =>
    Effect.as(
      Effect.catchCause(
        write(outcomes),
        (cause) => Effect.logWarning("delivery outcomes could not be stored; the deliveries may be repeated", cause)
      ),
      () => undefined
    )
  return batchRequests({ max: hostsMax }, run)
})
