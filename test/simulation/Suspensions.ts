import type { Command } from "../../src/actors/account/Protocol.ts"

/** Nodes that heard nothing of a commit, because who made it died, may believe what they keep for so long, in milliseconds. */
const staleMillisMax = 31_000

interface Known {
  /** Since when it is suspended for sure, in milliseconds since 1970; undefined where it may be not. */
  since: number | undefined
  /** Commands to lift it that were sent and not answered. */
  lifting: number
  /** Such commands so far; one that was never heard of may be done at any time. */
  lifts: number
  unsure: boolean
}

/** What moderators know of the accounts that they suspended, by the answers that they heard. */
export class Suspensions {
  private readonly accounts = new Map<bigint, Known>()

  private of(account: bigint): Known {
    const known = this.accounts.get(account) ?? { since: undefined, lifting: 0, lifts: 0, unsure: false }
    this.accounts.set(account, known)
    return known
  }

  /** A command leaves; what is answered is to be told to what this gives, with how often and at what time it was asked for. */
  sent(account: bigint, command: Command): (result: unknown, attempts: number, now: number) => void {
    if (command._tag !== "Moderate") return () => {}
    const known = this.of(account)
    if (!command.stands) {
      known.lifts++
      known.lifting++
      known.since = undefined
      return (result) => {
        known.lifting--
        if (result === "unknown") known.unsure = true
      }
    }
    const before = known.lifting > 0 ? -1 : known.lifts
    return (result, attempts, now) => {
      const done = typeof result === "object" && result !== null && "id" in result
      if (!done || known.unsure || known.lifts !== before) return
      known.since ??= now + (attempts > 1 ? staleMillisMax : 0)
    }
  }

  /** Since when an account is suspended for sure, if it is at that time. */
  since(account: bigint, now: number): number | undefined {
    const since = this.accounts.get(account)?.since
    return since !== undefined && since <= now ? since : undefined
  }
}
