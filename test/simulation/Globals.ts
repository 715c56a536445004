import type { VirtualTime } from "./VirtualTime.ts"

/**
 * Puts libraries that use globals on the run's time (the Postgres driver has its own timers), and removes randomness
 * from them. They draw random numbers once for objects that outlive a run, so a seeded stream would depend on earlier
 * runs. Returns a function that restores the globals.
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
 * Runs work without letting it set timers. Postgres in WebAssembly has one for statistics, set by real time, which
 * would fire within a run.
 */
export const withoutTimers = <A>(work: () => A): A => {
  const restore = silence()
  try {
    return work()
  } finally {
    restore()
  }
}

/** Runs asynchronous work without timers; no other work may run in the meantime. */
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
