import type { VirtualTime } from "./VirtualTime.ts"

/**
 * Puts libraries on the run's time, too, where they use globals (the driver of Postgres has timers of its own), and takes
 * chance from them: they ask for it once for things that outlive a run, so that a stream of it would depend on the runs
 * before. Answers how to undo it.
 */
export const replace = (time: VirtualTime) => {
  const { clearTimeout, setTimeout } = globalThis
  const { now } = Date
  const { random } = Math
  const timers = new Map<unknown, () => void>()
  const set = (fire: (...args: ReadonlyArray<unknown>) => void, millis = 0, ...args: ReadonlyArray<unknown>) => {
    const timer: NodeJS.Timeout = {
      ref: () => timer,
      unref: () => timer,
      hasRef: () => true,
      refresh: () => timer,
      close: () => timer,
      _onTimeout: () => {},
      [Symbol.toPrimitive]: () => 0,
      [Symbol.dispose]: () => clear(timer)
    }
    timers.set(
      timer,
      time.after(millis, () => {
        timers.delete(timer)
        fire(...args)
      })
    )
    return timer
  }
  const clear = (timer: unknown) => {
    timers.get(timer)?.()
    timers.delete(timer)
  }
  Object.assign(globalThis, { setTimeout: set, clearTimeout: clear })
  Date.now = () => time.now
  Math.random = () => 0.5
  return () => {
    Object.assign(globalThis, { setTimeout, clearTimeout })
    Date.now = now
    Math.random = random
  }
}

/**
 * Does what would set timers that are none of the run's: Postgres in WebAssembly has one for its statistics, which it sets or
 * does not by the true time, and which would go off in a run and set the next one there.
 */
export const withoutTimers = <A>(work: () => A): A => {
  const restore = silence()
  try {
    return work()
  } finally {
    restore()
  }
}

/** The same for work that takes several turns, in which nothing else happens. */
export const withoutTimersUntil = async <A>(work: () => Promise<A>): Promise<A> => {
  const restore = silence()
  try {
    return await work()
  } finally {
    restore()
  }
}

const silence = () => {
  const { setTimeout } = globalThis
  Object.assign(globalThis, { setTimeout: () => undefined })
  return () => Object.assign(globalThis, { setTimeout })
}
