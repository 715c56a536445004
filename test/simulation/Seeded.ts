import type { Scheduler } from "effect"

/** A generator of numbers in [0, 1) that a seed fixes (mulberry32). */
export const generator = (seed: number) => {
  let state = seed | 0
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
  }
}

/** A scheduler that picks the next runnable fiber by chance, so that a seed stands for one interleaving. */
export const scheduler = (random: () => number): Scheduler.Scheduler => ({
  executionMode: "async",
  shouldYield: (fiber) => fiber.currentOpCount >= 64,
  makeDispatcher: () => {
    const tasks: Array<() => void> = []
    let running = false
    const flush = () => {
      while (tasks.length > 0) tasks.splice(Math.floor(random() * tasks.length), 1)[0]!()
      running = false
    }
    return {
      flush,
      scheduleTask: (task) => {
        tasks.push(task)
        if (running) return
        running = true
        queueMicrotask(flush)
      }
    }
  }
})
