import { Context, Effect } from "effect"
import { boundedMap } from "../runtime/BoundedMap.ts"
import { elapsedMillis } from "../runtime/ElapsedMillis.ts"
import { hashedKey } from "../secrets/HashedKey.ts"
import { Unreachable } from "./OutboundError.ts"

/** Maximum requests to one host within an hour for one cause, redirects included (row 34). */
export const requestsPerCauseMax = 8
/** Maximum hosts asked for one cause within an hour. */
const hostsPerCauseMax = 64
/** Maximum causes that are counted; beyond it the least recently used one is evicted. */
const causesMax = 10_000
const hourMillis = 3_600_000

/** Requests for one cause within its hour, by host. */
interface Allowance {
  /** An `elapsedMillis` time. */
  readonly since: number
  readonly hosts: Map<string, number>
}

/** Allowance of the current work; undefined for requests of users and operators, which have limits of their own. */
const CurrentAllowance = Context.Reference<Allowance | undefined>("murmuration/services/outbound/Allowances", {
  defaultValue: () => undefined
})

/** Counts a request of the current work. Fails like a busy host if its cause has no requests left. */
export const spend = (url: string): Effect.Effect<void, Unreachable> =>
  Effect.flatMap(CurrentAllowance, (allowance) => {
    if (allowance === undefined) return Effect.void
    const host = URL.parse(url)?.host ?? ""
    const { hosts } = allowance
    const count = hosts.get(host) ?? 0
    if (count >= requestsPerCauseMax || (count === 0 && hosts.size >= hostsPerCauseMax)) {
      return new Unreachable({ url, reason: "busy" })
    }
    hosts.set(host, count + 1)
    return Effect.void
  })

/**
 * Counts one request here, and lets another actor make it without an allowance, as it may serve several causes at once.
 */
export const delegate = <A, E, R>(url: string, work: Effect.Effect<A, E, R>): Effect.Effect<A, E | Unreachable, R> =>
  Effect.andThen(spend(url), Effect.provideService(work, CurrentAllowance, undefined))

/**
 * Allowances per cause. A cause is something that a stranger sent, such as a post: its sender chooses the hosts to ask,
 * and could make this server flood others. Work beyond its allowance fails as if the host were busy, and may be
 * retried.
 */
export const make = () => {
  const causes = boundedMap<string, Allowance>(causesMax)
  return {
    /** Runs work under the allowance of its cause, which concurrent work for the same cause shares. */
    within: (cause: string) => <A, E, R>(work: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
      Effect.flatMap(elapsedMillis, (now) => {
        const key = hashedKey(cause)
        const known = causes.get(key)
        const isCurrent = known !== undefined && now - known.since < hourMillis
        const allowance = isCurrent ? known : { since: now, hosts: new Map<string, number>() }
        if (!isCurrent) causes.set(key, allowance)
        return Effect.provideService(work, CurrentAllowance, allowance)
      })
  }
}
