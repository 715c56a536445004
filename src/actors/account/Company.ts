import { Deferred, Effect, Exit, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import type { Unavailable } from "../../services/Errors.ts"
import { together } from "../../services/Jointly.ts"
import type { Owners, Ownership } from "./Ownership.ts"

/** Actors whose works one transaction does. */
export const companyMax = 32
/** How long they wait for a row that somebody else has locked, in milliseconds. */
const lockMillisMax = 500

/** The transaction of all came to nothing: nothing of the work is done. */
export class Apart extends Schema.TaggedError<Apart>()("Apart", {}) {}

interface Work {
  readonly effect: Effect.Effect<unknown, unknown>
  /** True tells whoever waits to lead the next transaction, false that the work's is over. */
  readonly turn: Deferred.Deferred<boolean, Apart>
}

/**
 * Works of several actors of a node in one transaction, in which each checks that its actor owns its account, and in which
 * they ask the database together (`Jointly`): a flood of small works of many accounts takes a few statements for all of
 * them. Whatever comes while one transaction is under way is the next one's; whoever comes first leads it. A work that fails
 * before it wrote anything fails alone; else none of them is done. Made once a node.
 */
export const make = Effect.fnUntraced(function*({ beside, current }: Owners) {
  const sql = yield* SqlClient.SqlClient
  const waiting: Array<Work> = []
  let led = false
  const patience = sql`SET LOCAL lock_timeout = ${sql.literal(String(lockMillisMax))}`

  const doAll = (works: ReadonlyArray<Work>) =>
    Effect.suspend(() => {
      let answer: Exit.Exit<boolean, Apart> = Exit.fail(new Apart())
      return sql.withTransaction(Effect.andThen(patience, together(works.map(({ effect }) => effect)))).pipe(
        Effect.tap(() => Effect.sync(() => answer = Exit.succeed(false))),
        Effect.tapCause((cause) => Effect.logDebug("actors do their works apart", cause)),
        Effect.ignoreCause,
        Effect.ensuring(Effect.sync(() => {
          for (const { turn } of works) Deferred.doneUnsafe(turn, answer)
        })),
        Effect.andThen(Effect.suspend(() => answer))
      )
    })

  /** Does what waits, the leader's own work first, and hands on the lead. */
  const lead = Effect.suspend(() => doAll(waiting.splice(0, companyMax))).pipe(
    Effect.ensuring(Effect.sync(() => {
      const [next] = waiting
      led = next !== undefined
      if (next !== undefined) Deferred.doneUnsafe(next.turn, Exit.succeed(true))
    }))
  )

  const take = (turn: Work["turn"]): Effect.Effect<boolean, Apart> => {
    if (led) return Effect.flatMap(Deferred.await(turn), (leads) => leads ? lead : Effect.succeed(false))
    led = true
    // Whoever has something to do in the same turn comes along.
    return Effect.andThen(Effect.yieldNow, lead)
  }

  /** Does a work in a transaction with those of others; with any failure nothing of it is done. */
  return <A, E>(own: Ownership, work: Effect.Effect<A, E>) =>
    Effect.flatMap(current(own), (held) => {
      let exit: Exit.Exit<A, E | Unavailable | SqlError | Apart> = Exit.fail(new Apart())
      const effect = Effect.onExit(beside(own, held, work), (ended) => Effect.sync(() => exit = ended))
      const turn = Deferred.makeUnsafe<boolean, Apart>()
      waiting.push({ effect, turn })
      return Effect.andThen(take(turn), Effect.suspend(() => exit))
    })
})
