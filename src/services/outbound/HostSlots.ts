import { Cause, Clock, Effect, Exit } from "effect"
import { boundedMap } from "../BoundedMap.ts"
import * as Gate from "./Gate.ts"
import { Unreachable } from "./OutboundError.ts"

/** Requests under way at once to one host. */
export const requestsPerHostMax = 8
/** Requests under way at once in all, by what they are: deliveries wait for no fetch, and fetches for no delivery. */
export const requestsMax = { delivery: 1_024, fetch: 512 } as const
export type Kind = keyof typeof requestsMax
/** Requests that wait for one host at most; more are turned away. */
export const waitingPerHostMax = 1_000
/** A host that answered within so many milliseconds the last time is a prompt one. */
const promptMillisMax = 3_000
/** Prompt hosts that are remembered. */
const promptHostsMax = 10_000

type Restore = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>

interface Host {
  readonly gate: Gate.Gate
  /** Requests that hold a slot or wait for one. */
  users: number
}

/**
 * Bounds what is asked at once, of one host and of all. Half of the places of each kind are for prompt hosts alone:
 * hosts that take requests and never answer hold one half, however many they are. Others, which may be such, hold the
 * other half.
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

  /** What a request passes, in this order. */
  const gatesOf = (url: URL, kind: Kind, { gate }: Host): ReadonlyArray<Gate.Gate> => {
    const { all, others } = kinds[kind]
    return prompt.has(url.host) ? [gate, all] : [gate, others, all]
  }
  const leave = (gates: ReadonlyArray<Gate.Gate>) => {
    for (const gate of gates) gate.leave()
  }
  /** Waits at every gate from the one at `at`; those before it are held. */
  const waitAt = (gates: ReadonlyArray<Gate.Gate>, at: number): Effect.Effect<void> => {
    const gate = gates[at]
    return gate === undefined ? Effect.void : Effect.andThen(
      Effect.onError(gate.enter, () => Effect.sync(() => leave(gates.slice(0, at)))),
      Effect.suspend(() => waitAt(gates, at + 1))
    )
  }
  /** Whether one is inside of all of them now, or what one waits for. */
  const enter = (gates: ReadonlyArray<Gate.Gate>): Effect.Effect<void> | undefined => {
    for (const [at, gate] of gates.entries()) if (!gate.tryEnter()) return waitAt(gates, at)
    return undefined
  }

  /** Goes out again and notes how the host behaved: one that let us wait until we gave up, or longer than others, is slow. */
  const end =
    (url: URL, host: Host, gates: ReadonlyArray<Gate.Gate>, began: number) => (exit: Exit.Exit<unknown, unknown>) =>
      Effect.map(Clock.currentTimeMillis, (now) => {
        const answered = Exit.isSuccess(exit) ||
          exit.cause.reasons.every((reason) => Cause.isFailReason(reason) && !(reason.error instanceof Unreachable))
        if (answered && now - began <= promptMillisMax) prompt.set(url.host, true)
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
      const waits = enter(gates)
      const inside = Effect.flatMap(Clock.currentTimeMillis, (began) => use(end(url, host, gates, began), restore))
      return waits === undefined
        ? inside
        : Effect.andThen(
          Effect.onError(
            restore(
              waitMillisMax === undefined
                ? waits
                : Effect.timeoutOrElse(waits, { duration: waitMillisMax, orElse: () => busy(url) })
            ),
            () => Effect.sync(() => forget(url, host))
          ),
          inside
        )
    })

  return {
    /** Does something with a slot at the URL's host, once there is one; fails as busy after `waitMillisMax`. */
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
