import { Deferred, Effect, Exit } from "effect"
import type { AnswerOf } from "./Jointly.ts"

interface Wanted<Key, Answer, E> {
  readonly key: Key
  /** The answer; or what asks for everybody who waits, where it is this one's turn to do that. */
  readonly turn: Deferred.Deferred<Effect.Effect<Answer, E>>
}

/**
 * A question that may be asked for up to `max` keys in one statement, as a function of one key: whoever comes while one is
 * under way is the next one's, and whoever comes first asks for all. What fails, fails for all of them. Not for what runs in
 * a transaction, for it may be asked in the transaction of another.
 */
export const gathered = <Key, Answer, E>(
  max: number,
  many: (keys: ReadonlyArray<Key>) => Effect.Effect<AnswerOf<Key, Answer>, E>
): (key: Key) => Effect.Effect<Answer, E> => {
  const waiting: Array<Wanted<Key, Answer, E>> = []
  let led = false

  /** Asks for the first ones that wait, among which the leader is the first, and hands on the lead. */
  const lead = ({ key }: Wanted<Key, Answer, E>): Effect.Effect<Answer, E> =>
    Effect.suspend(() => {
      const asked = waiting.splice(0, max)
      return many(asked.map((wanted) => wanted.key)).pipe(
        Effect.onExit((exit) =>
          Effect.sync(() => {
            asked.forEach((wanted, place) => {
              if (place === 0) return
              const answer = Exit.map(exit, (answerOf) => answerOf(wanted.key, place))
              Deferred.doneUnsafe(wanted.turn, Exit.succeed(answer))
            })
            const [next] = waiting
            led = next !== undefined
            if (next !== undefined) Deferred.doneUnsafe(next.turn, Exit.succeed(lead(next)))
          })
        ),
        Effect.map((answerOf) => answerOf(key, 0))
      )
    })

  return (key) =>
    Effect.suspend(() => {
      const wanted = { key, turn: Deferred.makeUnsafe<Effect.Effect<Answer, E>>() }
      waiting.push(wanted)
      if (led) return Effect.flatten(Deferred.await(wanted.turn))
      led = true
      // Whoever wants something in the same turn comes along.
      return Effect.andThen(Effect.yieldNow, lead(wanted))
    })
}

/** The same; what fails for many is asked for each by itself. */
export const gatheredOrAlone = <Key, Answer, E>(
  max: number,
  many: (keys: ReadonlyArray<Key>) => Effect.Effect<AnswerOf<Key, Answer>, E>
): (key: Key) => Effect.Effect<Answer, E> => {
  const ask = gathered(max, many)
  return (key) => Effect.catchCause(ask(key), () => Effect.map(many([key]), (answerOf) => answerOf(key, 0)))
}
