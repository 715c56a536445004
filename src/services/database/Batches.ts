import { type Context, Effect, Exit, Latch, Request, RequestResolver } from "effect"

/** Returns the result for one key; `place` is the index of the key in the statement. */
type ResultOf<Key, Result> = (key: Key, place: number) => Result

/** A statement for many keys. */
export type Many<Key, Result, E> = (keys: ReadonlyArray<Key>) => Effect.Effect<ResultOf<Key, Result>, E>

/** Request for one key, for Effect's request resolvers. */
export class KeyRequest<Key, Result, E> extends Request.Class<{ readonly key: Key }, Result, E> {}

/**
 * Returns a resolver that batches requests: those with one `batchKey` that arrive within `delay` share a statement, up
 * to `max` keys. Interrupting one caller does not affect the results of the others.
 */
export const resolver = <Key, Result, E>(
  { batchKey, delay, many, max = Number.POSITIVE_INFINITY }: {
    readonly many: Many<Key, Result, E>
    readonly batchKey: (context: Context.Context<never>) => unknown
    readonly delay: Effect.Effect<void>
    readonly max?: number
  }
): RequestResolver.RequestResolver<KeyRequest<Key, Result, E>> =>
  RequestResolver.makeWith<KeyRequest<Key, Result, E>>({
    batchKey: ({ context }) => batchKey(context),
    delay,
    collectWhile: ({ size }) => size < max,
    runAll: (entries) =>
      Effect.map(Effect.exit(many(entries.map(({ request }) => request.key))), (exit) =>
        entries.forEach((entry, place) =>
          entry.completeUnsafe(Exit.map(exit, (resultOf) =>
            resultOf(entry.request.key, place)))
        ))
  })

/** Batching of requests outside of transactions. */
interface BatchOptions {
  /** Maximum keys in one statement. */
  readonly max: number
  /** Maximum concurrent statements. */
  readonly concurrency?: number
  /** Wait for more keys if the last batch had several, in milliseconds. */
  readonly pauseMillis?: number
}

/**
 * Batches calls for single keys: calls of one turn, or that arrive while a statement runs, share the next statement. A
 * failure fails all of them. Not for code inside of a transaction: its query may run in another caller's transaction.
 */
export const batchRequests = <Key, Result, E>(
  { concurrency = 1, max, pauseMillis = 0 }: BatchOptions,
  many: Many<Key, Result, E>
): (key: Key) => Effect.Effect<Result, E> => {
  const free = Latch.makeUnsafe(true)
  let underWay = 0
  let lastBatchWasShared = false

  const pause = Effect.suspend(() =>
    lastBatchWasShared && pauseMillis > 0 ? Effect.sleep(pauseMillis) : Effect.yieldNow
  )
  const waitForSlot = Effect.andThen(free.await, pause)
  /** Runs a batch once a slot is free. A full batch skips `delay`, but not this wait. */
  const inTurn: Many<Key, Result, E> = (keys) =>
    Effect.suspend(() => {
      if (underWay === concurrency) return Effect.andThen(free.await, inTurn(keys))
      underWay++
      if (underWay === concurrency) free.closeUnsafe()
      lastBatchWasShared = keys.length > 1
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
    delay: Effect.suspend(() => underWay < concurrency ? pause : waitForSlot)
  })
  return (key) => Effect.request(new KeyRequest<Key, Result, E>({ key }), questions)
}

/** Like `batchRequests`, but retries each key alone if the batch fails. */
export const batchRequestsOrSingle = <Key, Result, E>(
  gathering: BatchOptions,
  many: Many<Key, Result, E>
): (key: Key) => Effect.Effect<Result, E> => {
  const ask = batchRequests(gathering, many)
  return (key) => Effect.catch(ask(key), () => Effect.map(many([key]), (resultOf) => resultOf(key, 0)))
}
