import { Clock, Context, Duration, Effect, type Exit, Metric, Random, Scheduler } from "effect"
import { Dice } from "./Seeded.ts"
import type { VirtualTime } from "./VirtualTime.ts"

/** Operations that a fiber runs before it yields: a seeded number in this range. */
const turnOperationsMin = 16
const turnOperationsMax = 128

/**
 * A computer: its fibers have its clock, its random stream and its share of the run's turns. A frozen machine does
 * nothing and does not notice the time. A dead one never runs again, not even finalizers.
 */
export class Machine {
  readonly name: string
  readonly context: Context.Context<never>
  dead = false
  /** Clock skew from the true time, in milliseconds. */
  readonly skewMillis: number
  private frozen = false
  /** Number of freezes. */
  standstills = 0
  private readonly parked: Array<() => void> = []
  private readonly time: VirtualTime

  /** `base` holds the services that all machines of a run share. */
  constructor(time: VirtualTime, base: Context.Context<never>, seed: number, name: string, skewMillis = 0) {
    this.time = time
    this.name = name
    this.skewMillis = skewMillis
    const dice = new Dice(seed, `machine ${name}`)
    this.context = base.pipe(
      Context.add(Scheduler.Scheduler, this.scheduler(dice)),
      Context.add(Clock.Clock, this.clock()),
      // Metrics keep the context of the fiber that counted first.
      Context.add(Metric.MetricRegistry, new Map()),
      Context.add(Random.Random, {
        nextIntUnsafe: () => dice.between(Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER),
        nextDoubleUnsafe: dice.next
      })
    )
  }

  get isFrozen() {
    return this.frozen
  }

  /** Runs a task on this machine; after the thaw if it is frozen, never if it is dead. */
  readonly soon = (task: () => void) => {
    if (this.dead) return
    this.time.soon(() => {
      if (this.dead) return
      if (this.frozen) this.parked.push(task)
      else task()
    })
  }

  kill() {
    this.dead = true
    this.parked.length = 0
  }

  /** Freezes the machine for the given milliseconds, like SIGSTOP or a paused virtual machine. */
  freeze(millis: number) {
    if (this.dead || this.frozen) return
    this.frozen = true
    this.standstills++
    this.time.after(millis, () => {
      this.frozen = false
      this.parked.splice(0).forEach(this.soon)
    })
  }

  /** Runs an effect on this machine for a waiting fiber on another; interrupting the wait interrupts the effect. */
  on(waiting: Machine) {
    return <A, E>(effect: Effect.Effect<A, E>): Effect.Effect<A, E> =>
      Effect.callback<A, E>((resume) => {
        let abandon: (() => void) | undefined
        this.soon(() => {
          const fiber = Effect.runForkWith(this.context)(effect)
          abandon = () => fiber.interruptUnsafe()
          fiber.addObserver((exit: Exit.Exit<A, E>) => waiting.soon(() => resume(exit)))
        })
        return Effect.sync(() => this.soon(() => abandon?.()))
      })
  }

  /** Runs an effect on this machine in the background. */
  run(effect: Effect.Effect<unknown, unknown>) {
    this.soon(() => void Effect.runForkWith(this.context)(effect))
  }

  private scheduler(dice: Dice): Scheduler.Scheduler {
    let operationsMax = turnOperationsMin
    const dispatcher = { scheduleTask: this.soon, flush: () => {} }
    return {
      executionMode: "async",
      shouldYield: (fiber) => {
        if (fiber.currentOpCount < operationsMax) return false
        operationsMax = dice.between(turnOperationsMin, turnOperationsMax)
        return true
      },
      makeDispatcher: () => dispatcher
    }
  }

  private clock(): Clock.Clock {
    const millis = () => this.time.now + this.skewMillis
    const nanos = () => BigInt(millis()) * 1_000_000n
    return {
      currentTimeMillisUnsafe: millis,
      currentTimeMillis: Effect.sync(millis),
      currentTimeNanosUnsafe: nanos,
      currentTimeNanos: Effect.sync(nanos),
      monotonicTimeNanosUnsafe: nanos,
      monotonicTimeNanos: Effect.sync(nanos),
      sleep: (duration) => {
        const wait = Duration.toMillis(duration)
        if (wait <= 0) return Effect.yieldNow
        if (!Number.isFinite(wait)) return Effect.never
        return Effect.callback<void>((resume) => {
          const cancel = this.time.after(wait, () => this.soon(() => resume(Effect.void)))
          return Effect.sync(cancel)
        })
      }
    }
  }
}
