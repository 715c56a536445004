import { type Cause, Effect, Random } from "effect"
import type { SqlClient } from "effect/sql/SqlClient"
import { isSqlError, type SqlError } from "effect/sql/SqlError"

/** How often what met a deadlock is begun again, and how long it waits before, at most, in milliseconds. */
const triesMax = 3
const pauseMillisMax = 100

/** Whether Postgres gave something up because others wanted the same rows at the same time; nothing of it is done. */
const isClash = (error: unknown): boolean =>
  isSqlError(error) && (error.reason._tag === "DeadlockError" || error.reason._tag === "SerializationError")

const clashed = (cause: Cause.Cause<unknown>): boolean =>
  cause.reasons.some((reason) =>
    reason._tag === "Fail" ? isClash(reason.error) : reason._tag === "Die" && isClash(reason.defect)
  )

/** Whether the database failed, so that nobody knows what it has done. */
export const isUnsure = ({ reasons }: Cause.Cause<unknown>): boolean =>
  reasons.some((reason) => reason._tag === "Fail" && isSqlError(reason.error))

/**
 * Does something in transactions of its own. Where Postgres ended one of them to resolve a deadlock, does it again from
 * its beginning: the caller never hears of that. Inside of a transaction it is for that one to be done again. A
 * statement by itself is such a transaction, too. A statement for several rows locks them in an order of its own. It
 * goes through here where somebody waits for it, or does more than once what others see.
 */
export const untilNoClash = (sql: SqlClient) => <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> => {
  const attempt = (tries: number): Effect.Effect<A, E, R> =>
    Effect.catchCause(effect, (cause) =>
      tries >= triesMax || !clashed(cause)
        ? Effect.failCause(cause)
        : Effect.logDebug("a deadlock is tried again").pipe(
          Effect.andThen(Effect.flatMap(Random.next, (chance) => Effect.sleep(chance * pauseMillisMax))),
          Effect.andThen(attempt(tries + 1))
        ))
  return Effect.flatMap(
    Effect.serviceOption(sql.transactionService),
    (inside) => inside._tag === "Some" ? effect : attempt(0)
  )
}

/** A transaction that is done again where it met a deadlock; what it does may not leave traces in memory that fails. */
export const transaction =
  (sql: SqlClient) => <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E | SqlError, R> =>
    untilNoClash(sql)(sql.withTransaction(effect))
