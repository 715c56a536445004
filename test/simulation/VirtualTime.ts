import type { Dice } from "./Seeded.ts"

/** Start time of a run, in milliseconds since 1970. */
export const startMillis = 1_700_000_000_000

/** Bounds of one run; a run beyond them counts as broken, with the reason. */
export const tasksAnInstantMax = 100_000
export const instantsMax = 60_000

interface Timer {
  at: number
  readonly fire: () => void
}

/**
 * Virtual time of a run and its queue of runnable tasks. The seed draws the next task; time advances to the next timer
 * when no task is left.
 */
export class VirtualTime {
  now = startMillis
  /** Reason why the run itself cannot continue. */
  stuck: string | undefined
  private readonly timers: Array<Timer> = []
  private readonly tasks: Array<() => void> = []
  private instants = 0
  private ran = 0
  private readonly dice: Dice

  constructor(dice: Dice) {
    this.dice = dice
  }

  /** Queues a task for this instant, in seeded order. */
  soon(task: () => void) {
    this.tasks.push(task)
  }

  /** Runs `fire` in `millis` milliseconds; returns a function that cancels it. */
  after(millis: number, fire: () => void) {
    const timer = { at: this.now + Math.max(0, Math.ceil(millis)), fire }
    // Sorted with the earliest last; of equal times, the timer set first fires first.
    let low = 0
    let high = this.timers.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.timers[middle]!.at > timer.at) low = middle + 1
      else high = middle
    }
    this.timers.splice(low, 0, timer)
    return () => {
      const at = this.timers.indexOf(timer)
      if (at !== -1) this.timers.splice(at, 1)
    }
  }

  /** True if a task can run now. */
  get pending() {
    return this.tasks.length > 0
  }

  /**
   * Runs all runnable tasks. Microtasks run after each task, as in Node: otherwise a library that defers to the end of
   * the turn would see other tasks run first.
   */
  async flush() {
    while (this.tasks.length > 0 && this.stuck === undefined) {
      if (++this.ran > tasksAnInstantMax) this.stuck = `more than ${tasksAnInstantMax} turns in one instant`
      const at = this.dice.between(0, this.tasks.length)
      const task = this.tasks[at]!
      this.tasks[at] = this.tasks.at(-1)!
      this.tasks.pop()
      task()
      await undefined
    }
  }

  /** Advances to the next timer. */
  advance() {
    const next = this.timers.at(-1)
    if (next === undefined) this.stuck = "nothing can happen any more"
    else if (++this.instants > instantsMax) this.stuck = `more than ${instantsMax} instants`
    if (next === undefined || this.stuck !== undefined) return
    this.now = next.at
    this.ran = 0
    while (this.timers.at(-1)?.at === this.now) this.soon(this.timers.pop()!.fire)
  }

  /** Moves all clocks forward, as if the machines had slept: no timeout becomes shorter. */
  skip(millis: number) {
    this.now += millis
    for (const timer of this.timers) timer.at += millis
  }

  /** Milliseconds since the start of the run, as shown in logs. */
  get elapsed() {
    return this.now - startMillis
  }
}
