import { Context, Effect, type Fiber, Layer, Option, Schedule, Scheduler } from "effect"
import { Entity } from "effect/cluster"
import { HttpRouter, HttpServerRequest } from "effect/http"
import { CurrentWork } from "../../services/CurrentWork.ts"

/** A pause of the event loop that is logged, in milliseconds. During a pause nobody gets an answer. */
export const pauseMillisLogged = 200
/** How often the loop is looked at, in milliseconds. */
const beatMillis = 50
/** The start holds the loop with reading the program and giving back memory; the watch begins after it, in milliseconds. */
const startMillis = 10_000

/** Names the work of a fiber by its context; ids and queries of a request are left out. */
const workOf = (context: Context.Context<never>): string => {
  const request = Option.getOrUndefined(Context.getOption(context, HttpServerRequest.HttpServerRequest))
  const route = Option.getOrUndefined(Context.getOption(context, HttpRouter.RouteContext))
  if (request !== undefined) return `${request.method} ${route === undefined ? "before its route" : route.route.path}`
  const named = Context.get(context, CurrentWork)
  if (named !== undefined) return named
  const address = Option.getOrUndefined(Context.getOption(context, Entity.CurrentAddress))
  return address === undefined ? "work without a name" : `an actor of type ${address.entityType}`
}

/** A stretch of steps in one context, in milliseconds by `performance.now`. */
interface Turn {
  readonly from: number
  readonly to: number
  readonly context: Context.Context<never>
}

/**
 * The usual scheduler, which also remembers whose turn was long. It is asked before each step of each fiber. It reads the time where
 * the context is another one than before: that of another fiber, or of another part of the same work.
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
   * The long turn that was under way at a time, in which the loop should have come to us. A loop without work has a long turn as
   * well, but comes in time.
   */
  turnAt(time: number): Turn | undefined {
    const turn = this.#long
    return turn !== undefined && turn.from <= time && time <= turn.to ? turn : undefined
  }
}

/**
 * Watches the event loop. A pause of more than `pauseMillisLogged` is logged with the route, the background work or the actor whose
 * fiber had its turn before the pause ended; what runs outside of fibers is taken for the fiber before it. The watch begins after
 * `millis`.
 */
export const layerAfter = (millis: number) =>
  Layer.effectContext(Effect.gen(function*() {
    const scheduler = new WatchedScheduler()
    let due = Infinity
    const look = Effect.suspend(() => {
      const [expected, now] = [due, performance.now()]
      due = now + beatMillis
      const turn = now - expected < pauseMillisLogged - beatMillis ? undefined : scheduler.turnAt(expected)
      return turn === undefined
        ? Effect.void
        : Effect.logWarning(
          `The event loop was blocked for ${
            Math.round(Math.min(turn.to - turn.from, now - expected + beatMillis))
          } ms by ${workOf(turn.context)}`
        )
    })
    yield* look.pipe(
      Effect.repeat(Schedule.spaced(beatMillis)),
      Effect.delay(millis),
      Effect.provideService(Scheduler.Scheduler, scheduler),
      Effect.forkScoped
    )
    return Context.make(Scheduler.Scheduler, scheduler)
  }))

/** Watch of a whole server, which begins when its start is over. */
export const layer = layerAfter(startMillis)
