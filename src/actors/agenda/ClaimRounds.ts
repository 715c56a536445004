import { Effect } from "effect"
import { repeated } from "../../services/runtime/Repeated.ts"

/** Repeats work while the scope lives; a failed round waits for the next one. */
export const repeatEvery = <A, E, R>(
  period: "1 second" | "5 seconds" | "1 minute" | "1 hour",
  workName: string,
  work: Effect.Effect<A, E, R>
) => Effect.forkScoped(repeated(period, workName, work))

/**
 * Allowance for slow work: after `millis` a work no longer counts against the regular limit, for up to `atOnceMax`
 * works.
 */
interface Slow {
  readonly millis: number
  readonly atOnceMax: number
}

/**
 * Claims and runs work that any node may do: every second, as much as this node has capacity for. New work does not
 * wait for earlier work. Failed work stays claimed, and is due again when the claim expires.
 */
export const runClaimed = Effect.fnUntraced(function*<Work, Failed, Undone>({ atOnceMax, claim, run, slow, workName }: {
  readonly workName: string
  readonly atOnceMax: number
  readonly slow?: Slow
  readonly claim: (max: number) => Effect.Effect<ReadonlyArray<Work>, Failed>
  readonly run: (work: Work) => Effect.Effect<void, Undone>
}) {
  const scope = yield* Effect.scope
  const underWay = { prompt: 0, slow: 0 }

  /** Counts a work as running while it lasts. */
  const counted = <A, E>(work: Effect.Effect<A, E>) =>
    Effect.suspend(() => {
      let pace: keyof typeof underWay = "prompt"
      const turnSlow = ({ atOnceMax, millis }: Slow) =>
        Effect.forever(Effect.andThen(
          Effect.sleep(millis),
          Effect.sync(() => {
            if (pace === "slow" || underWay.slow >= atOnceMax) return
            underWay[pace]--
            pace = "slow"
            underWay[pace]++
          })
        ))
      const watched = slow === undefined ? work : Effect.raceFirst(work, turnSlow(slow))
      return Effect.ensuring(watched, Effect.sync(() => void underWay[pace]--))
    })

  const begin = Effect.gen(function*() {
    if (underWay.prompt >= atOnceMax) return
    for (const work of yield* claim(atOnceMax - underWay.prompt)) {
      underWay.prompt++
      yield* run(work).pipe(
        Effect.catchCause((cause) =>
          Effect.logWarning(`one of ${workName} failed; it is retried when its claim expires`, cause)
        ),
        counted,
        Effect.forkIn(scope)
      )
    }
  })
  yield* repeatEvery("1 second", workName, begin)
})
