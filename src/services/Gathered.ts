import { Deferred, Effect, Exit } from "effect"
import type { AnswerOf } from "./TransactionBatch.ts"

interface Wanted<Key, Answer, E> {
  readonly key: Key
  /** The answer; or that it is this one's turn to ask for everybody who waits. */
  readonly turn: Deferred.Deferred<Exit.Exit<Answer, E> | "lead">
}

type Restore = <A, E>(effect: Effect.Effect<A, E>) => Effect.Effect<A, E>

/**
 * A question for up to `max` keys in one statement, as a function of one key: calls that come while one statement is
 * under way wait for the next, which the first of them runs for all. It fails for all of them. Not for callers in a
 * transaction: the statement may run in another's. `pauseMillis`: how long to wait for more where several came the last
 * time.
 */
export const gathered = <Key, Answer, E>(
  max: number,
  many: (keys: ReadonlyArray<Key>) => Effect.Effect<AnswerOf<Key, Answer>, E>,
  pauseMillis = 0
): (key: Key) => Effect.Effect<Answer, E> => {
  type One = Wanted<Key, Answer, E>
  const waiting: Array<One> = []
  /** Who asks next; the first of those who wait. */
  let leader: One | undefined
  let crowded = false

  /** Calls of the same turn come along; where several came lately, the statement waits for more. */
  const pause = Effect.suspend(() =>
    crowded && pauseMillis > 0 && waiting.length < max ? Effect.sleep(pauseMillis) : Effect.yieldNow
  )
  const handOn = () => {
    leader = waiting[0]
    if (leader !== undefined) Deferred.doneUnsafe(leader.turn, Exit.succeed("lead"))
  }
  /** Nobody waits for whom nobody asks any more. */
  const leave = (one: One) => {
    const at = waiting.indexOf(one)
    if (at >= 0) waiting.splice(at, 1)
    if (leader === one) handOn()
  }

  const lead = (one: One, restore: Restore): Effect.Effect<Answer, E> => {
    let asked: ReadonlyArray<One> = []
    const ask = Effect.suspend(() => {
      asked = waiting.splice(0, max)
      crowded = asked.length > 1
      return many(asked.map(({ key }) => key))
    })
    // Others wait for the answer, so that no interruption of this one takes it away.
    return Effect.onExit(Effect.andThen(restore(pause), ask), (exit) =>
      Effect.sync(() => {
        asked.forEach(({ key, turn }, place) => {
          if (place > 0) Deferred.doneUnsafe(turn, Exit.succeed(Exit.map(exit, (answerOf) => answerOf(key, place))))
        })
        leave(one)
      })).pipe(Effect.map((answerOf) => answerOf(one.key, 0)))
  }

  return (key) =>
    Effect.uninterruptibleMask((restore) =>
      Effect.suspend(() => {
        const one: One = { key, turn: Deferred.makeUnsafe() }
        waiting.push(one)
        if (leader === undefined) {
          leader = one
          return lead(one, restore)
        }
        return Effect.onInterrupt(restore(Deferred.await(one.turn)), () => Effect.sync(() => leave(one))).pipe(
          Effect.flatMap((turn) => turn === "lead" ? lead(one, restore) : turn)
        )
      })
    )
}

/** The same; what fails for many is asked for each by itself. */
export const gatheredOrAlone = <Key, Answer, E>(
  max: number,
  many: (keys: ReadonlyArray<Key>) => Effect.Effect<AnswerOf<Key, Answer>, E>
): (key: Key) => Effect.Effect<Answer, E> => {
  const ask = gathered(max, many)
  return (key) => Effect.catch(ask(key), () => Effect.map(many([key]), (answerOf) => answerOf(key, 0)))
}
