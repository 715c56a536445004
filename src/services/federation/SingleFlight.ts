import { Deferred, Effect } from "effect"

/**
 * Does the same thing once for everybody who wants it at that time, by a key; at most `keysMax` at once, more are done
 * each for itself. It runs in the scope of its maker: the first caller may go away without harm to the others.
 */
export const make = <A, E>(keysMax: number) =>
  Effect.map(Effect.scope, (scope) => {
    const underWay = new Map<string, Deferred.Deferred<A, E>>()
    return (key: string, work: Effect.Effect<A, E>): Effect.Effect<A, E> =>
      Effect.suspend(() => {
        const asked = underWay.get(key)
        if (asked !== undefined) return Deferred.await(asked)
        if (underWay.size >= keysMax) return work
        const answer = Deferred.makeUnsafe<A, E>()
        underWay.set(key, answer)
        return work.pipe(
          Effect.onExit((exit) =>
            Effect.suspend(() => {
              underWay.delete(key)
              return Deferred.done(answer, exit)
            })
          ),
          Effect.forkIn(scope),
          Effect.andThen(Deferred.await(answer))
        )
      })
  })
