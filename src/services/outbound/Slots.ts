import { Effect, Semaphore } from "effect"
import { Unreachable } from "./OutboundError.ts"

/** Requests under way at once: to one host, and in all. */
export const requestsPerHostMax = 8
export const requestsMax = 1_024
/** Requests that wait for one host at most; more are turned away. */
export const waitingPerHostMax = 1_000

interface Host {
  readonly slots: Semaphore.Semaphore
  /** Requests that hold a slot or wait for one. */
  users: number
}

/** Bounds what is asked of one host at once. Hosts are known as long as something is asked of them. */
export const make = Effect.map(Semaphore.make(requestsMax), (all) => {
  const hosts = new Map<string, Host>()

  const enter = (url: URL) =>
    Effect.suspend(() => {
      const host = hosts.get(url.host) ?? { slots: Semaphore.makeUnsafe(requestsPerHostMax), users: 0 }
      if (host.users >= requestsPerHostMax + waitingPerHostMax) {
        return Effect.fail(new Unreachable({ url: url.href, reason: "busy" }))
      }
      hosts.set(url.host, host)
      host.users++
      return Effect.succeed(host)
    })

  const leave = (url: URL, host: Host) =>
    Effect.sync(() => {
      if (--host.users === 0) hosts.delete(url.host)
    })

  return {
    /** Does something with a slot at the URL's host, once there is one. */
    within: <A, E, R>(url: URL, effect: Effect.Effect<A, E, R>): Effect.Effect<A, E | Unreachable, R> =>
      Effect.acquireUseRelease(
        enter(url),
        ({ slots }) => slots.withPermit(all.withPermit(effect)),
        (host) => leave(url, host)
      ),
    /** Waits for a slot at the URL's host, which the scope holds. */
    take: (url: URL) =>
      Effect.acquireRelease(enter(url), (host) => leave(url, host)).pipe(
        Effect.flatMap(({ slots }) => slots.takeScoped(1)),
        Effect.andThen(all.takeScoped(1))
      ),
    /** Hosts that something is asked of at the moment. */
    hosts: () => hosts.size
  }
})
