import type { Exit } from "effect"
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { batchRequests } from "../../../services/database/Batches.ts"
import { inOneTransaction } from "../../../services/database/TransactionBatch.ts"
import type { Unavailable } from "../../../services/runtime/Errors.ts"
import type { Owners, Ownership } from "./Ownership.ts"

/** Maximum works in a transaction. */
const worksMax = 192
/** Time for which a transaction gathers more work under load, in milliseconds. */
const gatherMillis = 20
/** Maximum wait for a locked row, in milliseconds. */
const lockMillisMax = 500

/** The shared transaction failed and was rolled back: none of its work is done. */
class BatchFailed extends Schema.TaggedError<BatchFailed>()("BatchFailed", {}) {}

/**
 * Runs the work of several actors of a node in one transaction. Each actor's ownership of its account is checked.
 * Queries are batched (`TransactionBatch`), so a flood of small work for many accounts takes a few statements. Work
 * that fails before it wrote anything fails alone; otherwise the whole batch fails. Built once per node.
 */
export const make = Effect.fnUntraced(function*({ inSharedTransaction, current }: Owners) {
  const sql = yield* SqlClient.SqlClient
  const lockTimeout = sql`SET LOCAL lock_timeout = ${sql.literal(String(lockMillisMax))}`

  const join = batchRequests(
    { max: worksMax, pauseMillis: gatherMillis },
    (works: ReadonlyArray<Effect.Effect<unknown, unknown>>) =>
      sql.withTransaction(Effect.andThen(lockTimeout, inOneTransaction(works))).pipe(
        Effect.tapCause((cause) =>
          Effect.logDebug("a shared transaction failed; each actor retries its own work", cause)
        ),
        Effect.matchCauseEffect({ onFailure: () => new BatchFailed(), onSuccess: () => Effect.succeed(() => {}) })
      )
  )

  /** Runs a work in a shared transaction. On any failure it is rolled back as a whole. */
  return <A, E>(own: Ownership, work: Effect.Effect<A, E>) =>
    Effect.flatMap(current(own), (held) => {
      let exit: Exit.Exit<A, E | Unavailable | SqlError> | undefined
      const effect = Effect.onExit(inSharedTransaction(own, held, work), (ended) => Effect.sync(() => exit = ended))
      return Effect.andThen(
        join(effect),
        Effect.suspend((): Effect.Effect<A, E | Unavailable | SqlError | BatchFailed> =>
          exit ?? Effect.fail(new BatchFailed())
        )
      )
    })
})
