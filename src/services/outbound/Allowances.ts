import { Clock, Context, Effect } from "effect"
import { boundedMap } from "../BoundedMap.ts"
import { hashedKey } from "../HashedKey.ts"
import { Unreachable } from "./OutboundError.ts"

/** Maximum requests to one host within an hour for one cause, redirects included (row 34). */
export const requestsPerCauseMax = 8
/** Maximum hosts that are asked for one cause within an hour. */
const hostsPerCauseMax = 64
/** Maximum causes whose requests are counted; beyond it the cause that was used longest ago is forgotten. */
const causesMax = 10_000
const hourMillis = 3_600_000

/** Requests for one cause within its hour, by host. */
interface Allowance {
  readonly since: number
  readonly hosts: Map<string, number>
}

/** Allowance of the running work; undefined where a user or an operator asks, whose own limits count. */
const CurrentAllowance = Context.Reference<Allowance | undefined>("murmuration/services/outbound/Allowances", {
  defaultValue: () => undefined
})

/** Counts a request of the running work. Fails as for a busy host where its cause has made as many as it may. */
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

/** Counts one request, and lets another actor make it, which may work for several causes at once. */
export const passedOn = <A, E, R>(url: string, work: Effect.Effect<A, E, R>): Effect.Effect<A, E | Unreachable, R> =>
  Effect.andThen(spend(url), Effect.provideService(work, CurrentAllowance, undefined))

/**
 * Allowances of causes. A cause is what a stranger sent, such as one post: whoever sends it chooses which hosts are
 * asked, and would let others be flooded. Work over its allowance fails as if the host were busy, and may be retried.
 */
export const make = () => {
  const causes = boundedMap<string, Allowance>(causesMax)
  return {
    /** Runs work under the allowance of its cause; several works of one cause share it. */
    within: (cause: string) => <A, E, R>(work: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
      Effect.flatMap(Clock.currentTimeMillis, (now) => {
        const key = hashedKey(cause)
        const known = causes.get(key)
        const isCurrent = known !== undefined && now - known.since < hourMillis && now >= known.since
        const allowance = isCurrent ? known : { since: now, hosts: new Map<string, number>() }
        if (!isCurrent) causes.set(key, allowance)
        return Effect.provideService(work, CurrentAllowance, allowance)
      })
  }
}
