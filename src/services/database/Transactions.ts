import { type Cause, Effect, Random } from "effect"
import type { SqlClient } from "effect/sql/SqlClient"
import { isSqlError, type SqlError } from "effect/sql/SqlError"

/** Maximum tries after deadlocks, and maximum pause before each retry, in milliseconds. */
const triesMax = 3
const pauseMillisMax = 100

/** Returns true for a deadlock or a serialisation failure; Postgres has rolled the work back. */
const isDeadlock = (error: unknown): boolean =>
  isSqlError(error) && (error.reason._tag === "DeadlockError" || error.reason._tag === "SerializationError")

const clashed = (cause: Cause.Cause<unknown>): boolean =>
  cause.reasons.some((reason) =>
    reason._tag === "Fail" ? isDeadlock(reason.error) : reason._tag === "Die" && isDeadlock(reason.defect)
  )

/**
 * Returns the error of the database in a cause, also where it is a defect: that of a COMMIT is one if the connection broke,
 * and many services have no other errors.
 */
export const databaseErrorIn = ({ reasons }: Cause.Cause<unknown>): SqlError | undefined => {
  for (const reason of reasons) {
    const error = reason._tag === "Fail" ? reason.error : reason._tag === "Die" ? reason.defect : undefined
    if (isSqlError(error)) return error
  }
  return undefined
}

/** Returns true if the database failed, so that the effects of the work are unknown. */
export const isDatabaseFailure = (cause: Cause.Cause<unknown>): boolean => databaseErrorIn(cause) !== undefined

/**
 * Runs work in transactions of its own and retries it from its start after a deadlock. Inside of a transaction, only
 * the outer one can retry. A single statement is a transaction, too: one for several rows locks them in an order of its
 * own. Wrap it here if a caller waits for it, or if a failure would repeat effects that others see.
 */
export const retryDeadlocks = (sql: SqlClient) => <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> => {
  const attempt = (tries: number): Effect.Effect<A, E, R> =>
    Effect.catchCause(effect, (cause) =>
      tries >= triesMax || !clashed(cause)
        ? Effect.failCause(cause)
        : Effect.logDebug("retrying after a deadlock").pipe(
          Effect.andThen(Effect.flatMap(Random.next, (chance) => Effect.sleep(chance * pauseMillisMax))),
          Effect.andThen(attempt(tries + 1))
        ))
  return Effect.flatMap(
    Effect.serviceOption(sql.transactionService),
    (inside) => inside._tag === "Some" ? effect : attempt(0)
  )
}

/** Runs a transaction and retries it after a deadlock; it must not leave traces in memory when it fails. */
export const transaction =
  (sql: SqlClient) => <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E | SqlError, R> =>
    retryDeadlocks(sql)(sql.withTransaction(effect))
