import { type Cause, type Duration, Effect, Schedule } from "effect"
import { isSqlError } from "effect/sql/SqlError"
import { CurrentWork } from "./CurrentWork.ts"

/** Pause before work that the database failed is tried once more. */
const retryPause = "1 second"

/** Returns true where the database failed, as an error or as a defect. */
const isOfDatabase = ({ reasons }: Cause.Cause<unknown>): boolean =>
  reasons.some((reason) =>
    reason._tag === "Fail" ? isSqlError(reason.error) : reason._tag === "Die" && isSqlError(reason.defect)
  )

/**
 * Repeats work that may be done twice, for ever. A failed round is logged and waits for the next one. Where the database
 * failed, the round is tried once more before that: Postgres ends a session whose process pauses for seconds in a
 * transaction, as a loaded machine has it at a start, and one lost session is no news for an operator.
 */
export const repeated = <A, E, R>(period: Duration.Input, what: string, work: Effect.Effect<A, E, R>) =>
  work.pipe(
    Effect.catchCauseIf(isOfDatabase, (cause) =>
      Effect.logDebug(`${what} is tried again`, cause).pipe(
        Effect.andThen(Effect.sleep(retryPause)),
        Effect.andThen(work)
      )),
    Effect.catchCause((cause) => Effect.logWarning(`${what} must wait`, cause)),
    Effect.repeat(Schedule.spaced(period)),
    Effect.provideService(CurrentWork, what)
  )
