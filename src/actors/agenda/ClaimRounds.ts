import { Effect, Schedule } from "effect"

/** Repeats work as long as the scope lives; what fails is logged and waits for the next time. */
export const every = <A, E, R>(
  period: "1 second" | "5 seconds" | "1 minute" | "1 hour",
  what: string,
  work: Effect.Effect<A, E, R>
) =>
  work.pipe(
    Effect.catchCause((cause) => Effect.logWarning(`${what} must wait`, cause)),
    Effect.repeat(Schedule.spaced(period)),
    Effect.forkScoped
  )

/**
 * Work that any node claims: every second this one takes as much as there is room for. None waits for what was begun
 * before it. Work that fails stays as it is claimed, and is due again when the claim is over.
 */
export const claiming = Effect.fnUntraced(function*<Work, Failed, Undone>({ atOnceMax, claim, run, what }: {
  readonly what: string
  readonly atOnceMax: number
  readonly claim: (max: number) => Effect.Effect<ReadonlyArray<Work>, Failed>
  readonly run: (work: Work) => Effect.Effect<void, Undone>
}) {
  const scope = yield* Effect.scope
  let underWay = 0
  const begin = Effect.gen(function*() {
    if (underWay >= atOnceMax) return
    for (const work of yield* claim(atOnceMax - underWay)) {
      underWay++
      yield* run(work).pipe(
        Effect.catchCause((cause) => Effect.logWarning(`one of ${what} is left as it is claimed`, cause)),
        Effect.ensuring(Effect.sync(() => underWay--)),
        Effect.forkIn(scope)
      )
    }
  })
  yield* every("1 second", what, begin)
})
