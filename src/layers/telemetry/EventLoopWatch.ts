import { Context, Effect, type Fiber, Layer, Option, Schedule, Scheduler } from "effect"
import { Entity } from "effect/cluster"
import { routeOf } from "../../services/runtime/CurrentRoute.ts"
import { CurrentWork } from "../../services/runtime/CurrentWork.ts"

/** Pause of the event loop from which it is logged, in milliseconds. No request is served during a pause. */
export const pauseMillisLogged = 200
/** Interval at which the loop is checked, in milliseconds. */
const beatMillis = 50
/** Delay of the watch, in milliseconds: the start blocks the loop by loading the program and shrinking the heap. */
const startMillis = 30_000

/** Names the work of a fiber by its context; ids and queries of a request are left out. */
const workOf = (context: Context.Context<never>): string => {
  const route = routeOf(context)
  if (route !== undefined) return route
  const named = Context.get(context, CurrentWork)
  if (named !== undefined) return named
  const address = Option.getOrUndefined(Context.getOption(context, Entity.CurrentAddress))
  return address === undefined ? "work without a name" : `an actor of type ${address.entityType}`
}

/** A run of steps in one context, in milliseconds by `performance.now`. */
interface Turn {
  readonly from: number
  readonly to: number
  readonly context: Context.Context<never>
}

/**
 * The default scheduler, which also records the last long turn. It runs before each step of each fiber, and reads the
 * time only when the context changes: to another fiber, or to another part of the same work.
 */
class WatchedScheduler extends Scheduler.MixedScheduler {
  #context: Context.Context<never> = Context.empty()
  #since = 0
  #long: Turn | undefined = undefined

  override shouldYield(fiber: Fiber.Fiber<unknown, unknown>): boolean {
    if (fiber.context !== this.#context) {
      const [from, to] = [this.#since, performance.now()]
      if (to - from >= pauseMillisLogged) this.#long = { from, to, context: this.#context }
      this.#context = fiber.context
      this.#since = to
    }
    return super.shouldYield(fiber)
  }

  /**
   * Returns the long turn at a time when the check was due. An idle loop has long turns as well, but then the check
   * runs on time.
   */
  turnAt(time: number): Turn | undefined {
    const turn = this.#long
    return turn !== undefined && turn.from <= time && time <= turn.to ? turn : undefined
  }
}

/**
 * Watches the event loop. A pause of more than `pauseMillisLogged` is logged with the route, background work or actor
 * whose fiber ran before the pause ended; work outside of fibers is attributed to the fiber before it. The watch begins
 * after `millis`.
 */
export const layerAfter = (millis: number) =>
  Layer.effectContext(Effect.gen(function*() {
    const scheduler = new WatchedScheduler()
    let due = Infinity
    let used = 0
    const beat = Effect.suspend(() => {
      const [expected, now] = [due, performance.now()]
      due = now + beatMillis
      // A thread that got no CPU was not blocked by its work.
      const { system, user } = process.threadCpuUsage()
      const usedMillis = (system + user) / 1_000
      const cpuMillis = usedMillis - used
      used = usedMillis
      const isLate = now - expected >= pauseMillisLogged - beatMillis && cpuMillis >= pauseMillisLogged - beatMillis
      const turn = isLate ? scheduler.turnAt(expected) : undefined
      return turn === undefined
        ? Effect.void
        : Effect.logWarning(
          `The event loop was blocked for ${
            Math.round(Math.min(turn.to - turn.from, now - expected + beatMillis))
          } ms by ${workOf(turn.context)}`
        )
    })
    yield* beat.pipe(
      Effect.repeat(Schedule.spaced(beatMillis)),
      Effect.delay(millis),
      Effect.provideService(Scheduler.Scheduler, scheduler),
      Effect.forkScoped
    )
    return Context.make(Scheduler.Scheduler, scheduler)
  }))

/** Watches the event loop of a server after its start. */
export const layer = layerAfter(startMillis)
