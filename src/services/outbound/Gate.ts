import { Effect } from "effect"

/**
 * Lets `size` in at once, the others in the order in which they came. Entering and leaving cost the same however many
 * wait, and thousands may: a semaphore looks at all of them each time.
 */
export const make = (size: number) => {
  let free = size
  const waiting = new Set<() => void>()

  const leave = () => {
    const [next] = waiting
    if (next === undefined) return void free++
    waiting.delete(next)
    next()
  }
  /** Whether there is room; the caller is inside then. */
  const tryEnter = () => {
    if (free === 0) return false
    free--
    return true
  }
  const turn = Effect.callback<void>((resume) => {
    const enter = () => resume(Effect.void)
    waiting.add(enter)
    return Effect.sync(() => {
      // It was let in and went away in the same moment.
      if (!waiting.delete(enter)) leave()
    })
  })
  const enter = Effect.suspend(() => tryEnter() ? Effect.void : turn)

  return {
    tryEnter,
    leave,
    /** Waits for room; who goes away meanwhile is not inside. */
    enter,
    /** Does something inside. */
    within: <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
      Effect.uninterruptibleMask((restore) =>
        Effect.andThen(restore(enter), Effect.ensuring(restore(effect), Effect.sync(leave)))
      )
  }
}

export type Gate = ReturnType<typeof make>
