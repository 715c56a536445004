import { type Cause, type Duration, Effect, Schedule } from "effect"
import { isSqlError } from "effect/sql/SqlError"
import { CurrentWork } from "./CurrentWork.ts"

/** Pause before work is retried after a database failure. */
const retryPause = "1 second"

/** Returns true if the database failed, as an error or as a defect. */
const isOfDatabase = ({ reasons }: Cause.Cause<unknown>): boolean =>
  reasons.some((reason) =>
    reason._tag === "Fail" ? isSqlError(reason.error) : reason._tag === "Die" && isSqlError(reason.defect)
  )

/**
 * Repeats idempotent work forever. A failed round is logged; the next one runs as usual. A round that the database
 * failed is retried once before that: Postgres ends a session whose process pauses for seconds in a transaction, which
 * happens on loaded machines at startup, and one lost session is no news for an operator.
 */
export const repeated = <A, E, R>(period: Duration.Input, workName: string, work: Effect.Effect<A, E, R>) =>
  work.pipe(
    Effect.catchCauseIf(isOfDatabase, (cause) =>
      Effect.logDebug(`${workName} failed in the database; retrying`, cause).pipe(
        Effect.andThen(Effect.sleep(retryPause)),
        Effect.andThen(work)
      )),
    Effect.catchCause((cause) =>
      Effect.logWarning(`${workName} failed; the next run is on schedule`, cause)
    ),
    Effect.repeat(Schedule.spaced(period)),
    Effect.provideService(CurrentWork, workName)
  )
