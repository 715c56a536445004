import { Effect, Layer, Schedule } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import { failed, HeldSessions } from "./Database.ts"
import { Handover } from "./Handover.ts"
import { OperatorError } from "./OperatorError.ts"

/** Key of the advisory lock: "murm" in ASCII. */
export const lockKey = 0x6d75726d
const checkInterval = "1 second"
/** Retries after a kill: the lock ends with its session, which takes Postgres a moment. */
const ended = { times: 6, schedule: Schedule.spaced("500 millis") }
/** Retries during a handover: the old server ends within 8 s, and users wait in the meantime. */
const handoverWait = { times: 1_500, schedule: Schedule.spaced("20 millis") }
const reconnect = Schedule.min([Schedule.exponential("200 millis"), Schedule.spaced("5 seconds")])

/**
 * Holds a database lock for the lifetime of the layer. Only one server without a cluster may have it: two would each
 * keep feeds and actors that the other does not know. The lock belongs to a session, so a server that dies loses it.
 */
export const layer = Layer.effectDiscard(Effect.gen(function*() {
  const pg = yield* HeldSessions
  const handover = yield* Handover
  const inUse = new OperatorError({
    message: "Another server uses this database. Stop it first, or set up a cluster with " +
      "CLUSTER_HOST."
  })
  const take = Effect.gen(function*() {
    const session = yield* pg.reserve
    const tried = session.executeValues(`SELECT pg_try_advisory_lock(${lockKey})`, []).pipe(
      Effect.filterOrFail(([row]) => row?.[0] === true, () => inUse)
    )
    const whileInUse = (error: SqlError | OperatorError) => error === inUse
    const waiting = Effect.retry(tried, { ...(handover.expected ? handoverWait : ended), while: whileInUse })
    yield* handover.expected ? handover.takeOver(waiting) : waiting
    yield* Effect.addFinalizer(() => Effect.ignore(session.executeValues(`SELECT pg_advisory_unlock(${lockKey})`, [])))
    return session
  })
  const first = yield* Effect.mapError(
    take,
    (error) =>
      error._tag === "OperatorError"
        ? error
        : failed(error)
  )
  /** Fails when the session is lost, for example because Postgres was restarted. */
  const hold = (session: typeof first) =>
    Effect.repeat(session.executeValues("SELECT 1", []), Schedule.spaced(checkInterval))
  const reacquire = Effect.scoped(Effect.flatMap(take, hold)).pipe(
    Effect.tapError((error) => error === inUse ? Effect.logError(inUse.message) : Effect.void)
  )
  yield* hold(first).pipe(Effect.ignore, Effect.andThen(Effect.retry(reacquire, reconnect)), Effect.forkScoped)
}))
