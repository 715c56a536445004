import type { Dice } from "./Seeded.ts"

/** When a run begins, in milliseconds since 1970. */
export const startMillis = 1_700_000_000_000

/** Bounds of one run; beyond them it counts as broken, with the reason in words. */
export const tasksAnInstantMax = 100_000
export const instantsMax = 60_000

interface Timer {
  at: number
  readonly fire: () => void
}

/**
 * The time of a run, and its one list of what can run at the present instant. The next task is drawn from the seed;
 * time moves on to the next timer when nothing can run any more.
 */
export class VirtualTime {
  now = startMillis
  /** What is wrong with the run itself, where it cannot go on. */
  stuck: string | undefined
  private readonly timers: Array<Timer> = []
  private readonly tasks: Array<() => void> = []
  private instants = 0
  private ran = 0
  private readonly dice: Dice

  constructor(dice: Dice) {
    this.dice = dice
  }

  /** Lets `task` run at this instant, before or after whatever else can. */
  soon(task: () => void) {
    this.tasks.push(task)
  }

  /** Runs `fire` in `millis` milliseconds; answers how to call that off. */
  after(millis: number, fire: () => void) {
    const timer = { at: this.now + Math.max(0, Math.ceil(millis)), fire }
    // The earliest stands last; of the same time, the one that was set first.
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

  /** Something can run now. */
  get pending() {
    return this.tasks.length > 0
  }

  /**
   * Runs everything that can run now. After each of it come the microtasks that it left, as in Node: a library that puts
   * something off to the end of the turn would else find that others had theirs before.
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

  /** Moves on to the next timer. */
  advance() {
    const next = this.timers.at(-1)
    if (next === undefined) this.stuck = "nothing can happen any more"
    else if (++this.instants > instantsMax) this.stuck = `more than ${instantsMax} instants`
    if (next === undefined || this.stuck !== undefined) return
    this.now = next.at
    this.ran = 0
    while (this.timers.at(-1)?.at === this.now) this.soon(this.timers.pop()!.fire)
  }

  /** All clocks are put on, as if the machines had been asleep: nothing that waits for a span of time waits less. */
  skip(millis: number) {
    this.now += millis
    for (const timer of this.timers) timer.at += millis
  }

  /** Milliseconds since the run began, as logs of it show the time. */
  get elapsed() {
    return this.now - startMillis
  }
}
