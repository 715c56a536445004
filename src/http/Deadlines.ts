import { Clock, Effect, type Exit, Fiber, Schedule } from "effect"
import { HttpRouter, HttpServerRequest, type HttpServerResponse } from "effect/http"
import { takesFiles } from "./body/Files.ts"
import * as Reply from "./guard/Reply.ts"

type Response = HttpServerResponse.HttpServerResponse

/**
 * How long a request may be in work, from when its body has arrived, in milliseconds: what waits for longer waits for a
 * storage or a node that does not answer. Clients are promised an answer within five seconds.
 */
export const answerMillisMax = 4_500
/** How often requests are looked for that are over it. */
const sweepPeriod = "100 millis"

/** Streams last, and files arrive while they are stored; who takes them bounds its own time. */
const isLong = ({ headers, method, url }: HttpServerRequest.HttpServerRequest) =>
  headers["upgrade"] !== undefined || url.startsWith("/api/v1/streaming") ||
  takesFiles(method, url.split("?", 1)[0] ?? url)

interface Waiting {
  readonly since: number
  readonly giveUp: () => void
}

/**
 * Answers 503 with `Retry-After` for a request that is in work for too long. Its handler is interrupted but not waited
 * for, because a session of a Postgres that hangs takes seconds to give up; what it asked of an actor may still be done.
 * Belongs into the router behind what reads bodies.
 */
export const layer = HttpRouter.middleware(
  Effect.gen(function*() {
    /** In the order in which they began, which is the order in which they are over time. */
    const requests = new Map<Fiber.Fiber<unknown, unknown>, Waiting>()
    const sweep = Effect.map(Clock.currentTimeMillis, (now) => {
      for (const { giveUp, since } of requests.values()) {
        if (now - since < answerMillisMax) return
        giveUp()
      }
    })
    yield* Effect.forkScoped(Effect.repeat(sweep, Schedule.spaced(sweepPeriod)))

    const bounded = Effect.fnUntraced(function*<E, R>(handler: Effect.Effect<Response, E, R>) {
      const since = yield* Clock.currentTimeMillis
      // One fiber and no timer a request; `Effect.timeout` would take two of the one and one of the other.
      const fiber = yield* Effect.forkDetach(handler, { startImmediately: true })
      const answered = fiber.pollUnsafe()
      if (answered !== undefined) return yield* answered
      return yield* Effect.callback<Response, E>((resume) => {
        const end = (exit: Exit.Exit<Response, E>) => {
          requests.delete(fiber)
          resume(exit)
        }
        requests.set(fiber, {
          since,
          giveUp: () => {
            requests.delete(fiber)
            resume(Reply.unavailable)
            fiber.interruptUnsafe()
          }
        })
        fiber.addObserver(end)
        return Effect.andThen(Effect.sync(() => requests.delete(fiber)), Fiber.interrupt(fiber))
      })
    })

    return (handler) =>
      Effect.flatMap(
        HttpServerRequest.HttpServerRequest,
        (request) => isLong(request) ? handler : bounded(handler)
      )
  }),
  { global: true }
)
