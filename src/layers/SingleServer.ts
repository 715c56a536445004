import { Effect, Layer, Schedule } from "effect"
import { HeldSessions } from "./Database.ts"
import { OperatorError } from "./OperatorError.ts"

/** Names the lock among Postgres' advisory locks: "murm" in ASCII. */
const lockKey = 0x6d75726d
const checkInterval = "15 seconds"
const reconnect = Schedule.min([Schedule.exponential("200 millis"), Schedule.spaced("5 seconds")])

/**
 * Holds a lock in the database that one server without a cluster may have, as long as the layer lives: two of them would
 * each keep feeds and actors that the other knows nothing of. The lock is a session's, so a server that dies loses it.
 */
export const layer = Layer.effectDiscard(Effect.gen(function*() {
  const pg = yield* HeldSessions
  const take = Effect.gen(function*() {
    const session = yield* pg.reserve
    const [row] = yield* session.executeValues(`SELECT pg_try_advisory_lock(${lockKey})`, [])
    yield* Effect.addFinalizer(() => Effect.ignore(session.executeValues(`SELECT pg_advisory_unlock(${lockKey})`, [])))
    return { session, taken: row?.[0] === true }
  })
  const inUse = new OperatorError({
    message:
      "Another server runs on this database. Stop it first; several servers on one database are a cluster and need " +
      "CLUSTER_HOST."
  })
  // The lock of a server that was just killed goes with its session, which takes Postgres a moment.
  const first = yield* take.pipe(
    Effect.mapError((error) => new OperatorError({ message: `The database cannot be used: ${error.message}` })),
    Effect.filterOrFail(({ taken }) => taken, () => inUse),
    Effect.retry(Schedule.max([Schedule.spaced("500 millis"), Schedule.recurs(6)]))
  )
  /** Ends when the session is lost, for example because Postgres was restarted. */
  const hold = (session: typeof first.session) =>
    Effect.repeat(session.executeValues("SELECT 1", []), Schedule.spaced(checkInterval))
  const again = Effect.scoped(Effect.gen(function*() {
    const { session, taken } = yield* take
    if (!taken) yield* Effect.logError(inUse.message)
    return yield* hold(session)
  }))
  yield* hold(first.session).pipe(Effect.ignore, Effect.andThen(Effect.retry(again, reconnect)), Effect.forkScoped)
}))
