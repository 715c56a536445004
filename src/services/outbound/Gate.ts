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
  /**
   * Waits for a slot. Calls `admitted` in the step that gives the slot, after which the caller has to leave, even if it
   * is interrupted before it continues.
   */
  const enter = (admitted: () => void): Effect.Effect<void> =>
    Effect.callback((resume) => {
      const admit = () => {
        admitted()
        resume(Effect.void)
      }
      if (tryEnter()) return admit()
      waiting.add(admit)
      return Effect.sync(() => waiting.delete(admit))
    })

  return {
    tryEnter,
    leave,
    enter,
    /** Runs an effect with a slot. */
    within: <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
      Effect.suspend(() => {
        let holds = false
        return Effect.ensuring(
          Effect.andThen(enter(() => holds = true), effect),
          Effect.sync(() => {
            if (holds) leave()
          })
        )
      })
  }
}

export type FifoSemaphore = ReturnType<typeof make>
