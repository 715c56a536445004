import { Effect } from "effect"
import * as Gate from "./Gate.ts"
import { Unreachable } from "./OutboundError.ts"

/** Requests under way at once: to one host, and in all. */
export const requestsPerHostMax = 8
export const requestsMax = 1_024
/** Requests that wait for one host at most; more are turned away. */
export const waitingPerHostMax = 1_000

interface Host {
  readonly gate: Gate.Gate
  /** Requests that hold a slot or wait for one. */
  users: number
}

/** Bounds what is asked of one host at once. Hosts are known as long as something is asked of them. */
export const make = () => {
  const all = Gate.make(requestsMax)
  const hosts = new Map<string, Host>()

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

  return {
    /** Does something with a slot at the URL's host, once there is one. */
    within: <A, E, R>(url: URL, effect: Effect.Effect<A, E, R>): Effect.Effect<A, E | Unreachable, R> =>
      Effect.uninterruptibleMask((restore): Effect.Effect<A, E | Unreachable, R> => {
        const host = hostOf(url)
        if (host === undefined) return busy(url)
        const { gate } = host
        const enter = gate.tryEnter()
          ? all.tryEnter() ? undefined : Effect.onError(all.enter, () => Effect.sync(gate.leave))
          : Effect.andThen(gate.enter, Effect.onError(all.enter, () => Effect.sync(gate.leave)))
        const inside = Effect.ensuring(
          restore(effect),
          Effect.sync(() => {
            all.leave()
            gate.leave()
            forget(url, host)
          })
        )
        return enter === undefined
          ? inside
          : Effect.andThen(Effect.onError(restore(enter), () => Effect.sync(() => forget(url, host))), inside)
      }),
    /** Waits for a slot at the URL's host, which the scope holds. */
    take: (url: URL) => {
      const held = (gate: Gate.Gate) =>
        Effect.uninterruptibleMask((restore) =>
          Effect.andThen(restore(gate.enter), Effect.addFinalizer(() => Effect.sync(gate.leave)))
        )
      return Effect.suspend(() => {
        const host = hostOf(url)
        if (host === undefined) return busy(url)
        return Effect.addFinalizer(() => Effect.sync(() => forget(url, host))).pipe(
          Effect.andThen(held(host.gate)),
          Effect.andThen(held(all))
        )
      })
    }
  }
}
