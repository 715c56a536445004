import type { Command } from "../../src/actors/account/core/AccountProtocol.ts"

/** Milliseconds for which nodes may use stale caches if a node died between its commit and its publish. */
const staleMillisMax = 31_000

interface Known {
  /** Start of the suspension in milliseconds since 1970; undefined if it is uncertain. */
  since: number | undefined
  /** Number of commands to lift the suspension without a response. */
  lifting: number
  /** Number of all commands to lift it; one without a response may be executed at any time. */
  lifts: number
  isUncertain: boolean
}

/** Suspensions that moderators know of, by the responses that they received. */
export class Suspensions {
  private readonly accounts = new Map<bigint, Known>()

  private of(account: bigint): Known {
    const known = this.accounts.get(account) ?? { since: undefined, lifting: 0, lifts: 0, isUncertain: false }
    this.accounts.set(account, known)
    return known
  }

  /** Records a sent command; the returned function takes its result, attempts and time. */
  sent(account: bigint, command: Command): (result: unknown, attempts: number, now: number) => void {
    if (command._tag !== "Moderate") return () => {}
    const known = this.of(account)
    if (!command.stands) {
      known.lifts++
      known.lifting++
      known.since = undefined
      return (result) => {
        known.lifting--
        if (result === "unknown") known.isUncertain = true
      }
    }
    const before = known.lifting > 0 ? -1 : known.lifts
    return (result, attempts, now) => {
      const done = typeof result === "object" && result !== null && "id" in result
      if (!done || known.isUncertain || known.lifts !== before) return
      known.since ??= now + (attempts > 1 ? staleMillisMax : 0)
    }
  }

  /** Returns the start of an account's certain suspension, if it is suspended at that time. */
  since(account: bigint, now: number): number | undefined {
    const since = this.accounts.get(account)?.since
    return since !== undefined && since <= now ? since : undefined
  }
}
