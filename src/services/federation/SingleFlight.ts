import { Deferred, Effect } from "effect"

/**
 * Runs one effect for all concurrent callers with the same key. At most `keysMax` keys are shared; beyond that each
 * caller runs its own. The effect runs in the maker's scope, so it survives the interruption of its first caller.
 */
export const make = <A, E>(keysMax: number) =>
  Effect.map(Effect.scope, (scope) => {
    const underWay = new Map<string, Deferred.Deferred<A, E>>()
    return (key: string, work: Effect.Effect<A, E>): Effect.Effect<A, E> =>
      Effect.suspend(() => {
        const asked = underWay.get(key)
        if (asked !== undefined) return Deferred.await(asked)
        if (underWay.size >= keysMax) return work
        const result = Deferred.makeUnsafe<A, E>()
        underWay.set(key, result)
        return work.pipe(
          Effect.onExit((exit) =>
            Effect.suspend(() => {
              underWay.delete(key)
              return Deferred.done(result, exit)
            })
          ),
          Effect.forkIn(scope),
          Effect.andThen(Deferred.await(result))
        )
      })
  })
