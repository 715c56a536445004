import { Cause, Effect, Exit } from "effect"
import { boundedMap } from "../runtime/BoundedMap.ts"
import { elapsedMillis } from "../runtime/ElapsedMillis.ts"
import * as Gate from "./Gate.ts"
import { Unreachable } from "./OutboundError.ts"

/** Maximum concurrent requests to one host. */
export const requestsPerHostMax = 8
/** Maximum concurrent requests by kind, so that deliveries and fetches do not wait for each other. */
export const requestsMax = { delivery: 1_024, fetch: 512 } as const
export type Kind = keyof typeof requestsMax
/** Maximum queued requests for one host; more are refused. */
export const waitingPerHostMax = 1_000
/** Maximum duration of the last response of a prompt host, in milliseconds. */
const promptMillisMax = 3_000
/** Maximum remembered prompt hosts. */
const promptHostsMax = 10_000

type Restore = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>

interface Host {
  readonly gate: Gate.FifoSemaphore
  /** Requests that hold a slot or wait for one. */
  users: number
}

/**
 * Bounds concurrent requests, per host and in total. Half of each kind's slots are reserved for prompt hosts. All
 * others share the other half, so that hosts that accept requests without ever responding cannot take more, however
 * many they are.
 */
export const make = () => {
  const places = (kind: Kind) => ({ all: Gate.make(requestsMax[kind]), others: Gate.make(requestsMax[kind] / 2) })
  const kinds = { delivery: places("delivery"), fetch: places("fetch") }
  const hosts = new Map<string, Host>()
  const prompt = boundedMap<string, true>(promptHostsMax)

  const hostOf = (url: URL): Host | undefined => {
    const host = hosts.get(url.host) ?? { gate: Gate.make(requestsPerHostMax), users: 0 }
    if (host.users >= requestsPerHostMax + waitingPerHostMax) return undefined
    hosts.set(url.host, host)
    host.users++
    return host
  }
  const forget = (url: URL, host: Host) => {
    if (--host.users === 0) hosts.delete(url.host)
  }
  const busy = (url: URL) => new Unreachable({ url: url.href, reason: "busy" })

  /** Returns the gates that a request passes, in order. */
  const gatesOf = (url: URL, kind: Kind, { gate }: Host): ReadonlyArray<Gate.FifoSemaphore> => {
    const { all, others } = kinds[kind]
    return prompt.has(url.host) ? [gate, all] : [gate, others, all]
  }
  const leave = (gates: ReadonlyArray<Gate.FifoSemaphore>) => {
    for (const gate of gates) gate.leave()
  }
  /** Enters the gates in order; returns the wait for the rest if one is full. `held` gets those that were entered. */
  const enter = (gates: ReadonlyArray<Gate.FifoSemaphore>, held: Array<Gate.FifoSemaphore>) => {
    for (const [at, gate] of gates.entries()) {
      if (!gate.tryEnter()) {
        return Effect.forEach(gates.slice(at), (next) => next.enter(() => held.push(next)), { discard: true })
      }
      held.push(gate)
    }
    return undefined
  }

  /** Leaves the gates and records the host's speed: a host that did not respond, or not promptly, is slow. */
  const end =
    (url: URL, host: Host, gates: ReadonlyArray<Gate.FifoSemaphore>, began: number) =>
    (exit: Exit.Exit<unknown, unknown>) =>
      Effect.map(elapsedMillis, (now) => {
        const responded = Exit.isSuccess(exit) ||
          exit.cause.reasons.every((reason) => Cause.isFailReason(reason) && !(reason.error instanceof Unreachable))
        if (responded && now - began <= promptMillisMax) prompt.set(url.host, true)
        else prompt.delete(url.host)
        leave(gates)
        forget(url, host)
      })

  const slot = <A, E, R>(
    url: URL,
    kind: Kind,
    use: (end: (exit: Exit.Exit<unknown, unknown>) => Effect.Effect<void>, restore: Restore) => Effect.Effect<A, E, R>,
    waitMillisMax?: number
  ) =>
    Effect.uninterruptibleMask((restore): Effect.Effect<A, E | Unreachable, R> => {
      const host = hostOf(url)
      if (host === undefined) return busy(url)
      const gates = gatesOf(url, kind, host)
      const held: Array<Gate.FifoSemaphore> = []
      const waits = enter(gates, held)
      const used = Effect.flatMap(elapsedMillis, (began) => use(end(url, host, gates, began), restore))
      return waits === undefined
        ? used
        : Effect.andThen(
          Effect.onError(
            restore(
              waitMillisMax === undefined
                ? waits
                : Effect.timeoutOrElse(waits, { duration: waitMillisMax, orElse: () => busy(url) })
            ),
            () =>
              Effect.sync(() => {
                leave(held)
                forget(url, host)
              })
          ),
          used
        )
    })

  return {
    /** Runs an effect with a slot at the URL's host; fails as busy after waiting for `waitMillisMax`. */
    within: <A, E, R>(
      url: URL,
      kind: Kind,
      effect: Effect.Effect<A, E, R>,
      waitMillisMax?: number
    ): Effect.Effect<A, E | Unreachable, R> =>
      slot(url, kind, (end, restore) => Effect.onExit(restore(effect), end), waitMillisMax),
    /** Waits for a slot at the URL's host, which the scope holds. */
    take: (url: URL, kind: Kind) => slot(url, kind, (end) => Effect.addFinalizer(end))
  }
}
