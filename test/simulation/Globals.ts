import type { Dice } from "./Seeded.ts"
import type { VirtualTime } from "./VirtualTime.ts"

/**
 * Puts libraries on the run's time and chance, too, where they use globals (the driver of Postgres has timers of its
 * own); answers how to undo it.
 */
export const replace = (time: VirtualTime, dice: Dice) => {
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
  Math.random = dice.next
  return () => {
    Object.assign(globalThis, { setTimeout, clearTimeout })
    Date.now = now
    Math.random = random
  }
}
