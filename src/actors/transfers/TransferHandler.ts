import type { Effect } from "effect"
import type { Transfer } from "../../services/transfers/Transfer.ts"
import type { StepEnd } from "../../services/transfers/TransferQueue.ts"

/** Work of one kind of transfer. */
export interface TransferHandler {
  /** Timeout of a step, in seconds, if it is long and renews its lease by commits. */
  readonly secondsMax?: number
  /**
   * Runs the next step of a claimed transfer, from its cursor, and commits its progress with `TransferQueue.commit`,
   * as often as it likes, but at least once within the lease. A node may die at any point: a step that was not
   * committed runs again from the last commit, so its effects on other rows are idempotent, or part of the commit.
   * Returns the claim of its last commit. A failure is retried at the end of the lease, ten times without progress.
   */
  readonly step: (claimed: Transfer) => Effect.Effect<
    { readonly claimed: Transfer; readonly end: StepEnd },
    unknown
  >
}
