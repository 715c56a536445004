import { Deferred, Effect, Exit } from "effect"

interface Asked<A, B, E> {
  readonly item: A
  readonly answer: Deferred.Deferred<B, E>
}

/**
 * Answers many questions by few: what is asked while the questions before it are being answered is answered together, `most`
 * at once and in `turns` at a time. `run` gives what tells the answer to each, and comes to its end whoever of those who asked
 * goes away.
 */
export const make = <A, B, E>(
  { most, run, turns }: {
    readonly most: number
    readonly turns: number
    readonly run: (items: ReadonlyArray<A>) => Effect.Effect<(item: A) => B, E>
  }
) => {
  const waiting: Array<Asked<A, B, E>> = []
  let running = 0

  const answer = Effect.fnUntraced(function*(asked: ReadonlyArray<Asked<A, B, E>>) {
    const exit = yield* Effect.exit(run(asked.map(({ item }) => item)))
    for (const { answer, item } of asked) Deferred.doneUnsafe(answer, Exit.map(exit, (answerTo) => answerTo(item)))
  })
  const work = Effect.gen(function*() {
    while (waiting.length > 0) yield* answer(waiting.splice(0, most))
  }).pipe(Effect.ensuring(Effect.sync(() => {
    running--
  })))

  return (item: A): Effect.Effect<B, E> =>
    Effect.suspend(() => {
      const answer = Deferred.makeUnsafe<B, E>()
      waiting.push({ item, answer })
      if (running === turns) return Deferred.await(answer)
      running++
      return Effect.andThen(Effect.forkDetach(work), Deferred.await(answer))
    })
}
