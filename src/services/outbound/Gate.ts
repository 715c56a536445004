import { Effect } from "effect"

/**
 * Semaphore that admits `size` at once, others in FIFO order. Entering and leaving take constant time with thousands of
 * waiters; Effect's semaphore scans all of them each time.
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
  /** Enters if there is a free slot; returns true if it did. */
  const tryEnter = () => {
    if (free === 0) return false
    free--
    return true
  }
  const turn = Effect.callback<void>((resume) => {
    const enter = () => resume(Effect.void)
    waiting.add(enter)
    return Effect.sync(() => {
      // Admitted and interrupted in the same moment.
      if (!waiting.delete(enter)) leave()
    })
  })
  const enter = Effect.suspend(() => tryEnter() ? Effect.void : turn)

  return {
    tryEnter,
    leave,
    /** Waits for a slot; an interrupted waiter holds none. */
    enter,
    /** Runs an effect with a slot. */
    within: <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
      Effect.uninterruptibleMask((restore) =>
        Effect.andThen(restore(enter), Effect.ensuring(restore(effect), Effect.sync(leave)))
      )
  }
}

export type FifoSemaphore = ReturnType<typeof make>
