import { type Context, Effect, Exit, Latch, Request, RequestResolver } from "effect"

/** What a statement for many keys says about one of them; `place` is where that stood among them. */
type AnswerOf<Key, Answer> = (key: Key, place: number) => Answer

/** A statement for many keys. */
export type Many<Key, Answer, E> = (keys: ReadonlyArray<Key>) => Effect.Effect<AnswerOf<Key, Answer>, E>

/** A question for one key, as Effect's resolvers take it. */
export class Question<Key, Answer, E> extends Request.Class<{ readonly key: Key }, Answer, E> {}

/**
 * A resolver of questions: those with the same `batchKey` that come before `delay` is over are asked in one statement, `max`
 * at most. An interruption of one that asked takes nobody's answer along.
 */
export const resolver = <Key, Answer, E>(
  { batchKey, delay, many, max = Number.POSITIVE_INFINITY }: {
    readonly many: Many<Key, Answer, E>
    readonly batchKey: (context: Context.Context<never>) => unknown
    readonly delay: Effect.Effect<void>
    readonly max?: number
  }
): RequestResolver.RequestResolver<Question<Key, Answer, E>> =>
  RequestResolver.makeWith<Question<Key, Answer, E>>({
    batchKey: ({ context }) => batchKey(context),
    delay,
    collectWhile: ({ size }) => size < max,
    runAll: (entries) =>
      Effect.map(Effect.exit(many(entries.map(({ request }) => request.key))), (exit) =>
        entries.forEach((entry, place) =>
          entry.completeUnsafe(Exit.map(exit, (answerOf) =>
            answerOf(entry.request.key, place)))
        ))
  })

/** How questions come together that are asked outside of transactions. */
interface Gathering {
  /** Keys of one statement. */
  readonly max: number
  /** Statements that are under way at once. */
  readonly concurrency?: number
  /** How long more are waited for where several came the last time, in milliseconds. */
  readonly pauseMillis?: number
}

/**
 * A question that may be asked for many keys in one statement, as a function of one key: what comes in one turn, or while the
 * statement before is under way, is asked at once. What fails, fails for all of them. Not for what runs in a transaction, for
 * it may be asked in the transaction of another.
 */
export const gathered = <Key, Answer, E>(
  { concurrency = 1, max, pauseMillis = 0 }: Gathering,
  many: Many<Key, Answer, E>
): (key: Key) => Effect.Effect<Answer, E> => {
  const free = Latch.makeUnsafe(true)
  let underWay = 0
  let crowded = false

  const pause = Effect.suspend(() => crowded && pauseMillis > 0 ? Effect.sleep(pauseMillis) : Effect.yieldNow)
  const meanwhile = Effect.andThen(free.await, pause)
  /** A full batch does not wait for `delay`, but for its turn like any other. */
  const inTurn: Many<Key, Answer, E> = (keys) =>
    Effect.suspend(() => {
      if (underWay === concurrency) return Effect.andThen(free.await, inTurn(keys))
      underWay++
      if (underWay === concurrency) free.closeUnsafe()
      crowded = keys.length > 1
      return Effect.ensuring(many(keys), end)
    })
  const end = Effect.sync(() => {
    underWay--
    free.openUnsafe()
  })
  const questions = resolver({
    many: inTurn,
    max,
    batchKey: () => undefined,
    delay: Effect.suspend(() => underWay < concurrency ? pause : meanwhile)
  })
  return (key) => Effect.request(new Question<Key, Answer, E>({ key }), questions)
}

/** The same; what fails for many is asked for each by itself. */
export const gatheredOrAlone = <Key, Answer, E>(
  gathering: Gathering,
  many: Many<Key, Answer, E>
): (key: Key) => Effect.Effect<Answer, E> => {
  const ask = gathered(gathering, many)
  return (key) => Effect.catch(ask(key), () => Effect.map(many([key]), (answerOf) => answerOf(key, 0)))
}
