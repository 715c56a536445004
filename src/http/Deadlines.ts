import { Effect, type Exit, Fiber } from "effect"
import { HttpMethod, HttpRouter, HttpServerRequest, type HttpServerResponse } from "effect/http"
import { elapsedMillis } from "../services/ElapsedMillis.ts"
import { takesFiles } from "./body/UploadedFiles.ts"
import { isStreaming } from "./guard/Handshake.ts"
import * as Reply from "./guard/Reply.ts"
import { InFlight } from "./InFlight.ts"
import * as TimeoutSet from "./TimeoutSet.ts"

type Response = HttpServerResponse.HttpServerResponse

/**
 * How long a request may be in work, while its body arrives not counted, in milliseconds: what waits for longer waits for a
 * storage or a node that does not answer. Clients are promised an answer within five seconds.
 */
export const answerMillisMax = 4_500
/** How often requests are looked for that are over it. */
const sweepPeriod = "100 millis"

/** Streams last, and files arrive while they are stored; who takes them bounds its own time. */
const isLong = ({ method, url }: HttpServerRequest.HttpServerRequest) =>
  isStreaming(url) || (HttpMethod.hasBody(method) && takesFiles(method, url.split("?", 1)[0] ?? url))

/**
 * Answers 503 with `Retry-After` for a request that is in work for too long. Its handler is interrupted but not waited
 * for: a session of a Postgres that hangs takes seconds to give up; what it asked of an actor may still be done.
 * Belongs into the router behind what reads bodies.
 */
export const layer = HttpRouter.middleware(
  Effect.gen(function*() {
    const requests = yield* TimeoutSet.make(answerMillisMax, sweepPeriod)

    /** Its time stands still while it is aside. */
    const timed = (one: TimeoutSet.Waiting, outer: InFlight): InFlight => ({
      aside: Effect.fnUntraced(function*(effect) {
        const timed = requests.delete(one)
        const spent = (yield* elapsedMillis) - one.since
        const goOn = Effect.map(elapsedMillis, (now) => {
          one.since = now - spent
          if (timed) requests.add(one)
        })
        return yield* Effect.onExit(outer.aside(effect), () => goOn)
      })
    })

    const bounded = Effect.fnUntraced(function*<E, R>(
      handler: Effect.Effect<Response, E, R>,
      request: HttpServerRequest.HttpServerRequest
    ) {
      const one: TimeoutSet.Waiting = { since: yield* elapsedMillis, giveUp: () => undefined }
      requests.add(one)
      const own = HttpMethod.hasBody(request.method)
        ? Effect.provideService(handler, InFlight, timed(one, yield* InFlight))
        : handler
      // One fiber and no timer a request; `Effect.timeout` would take two of the one and one of the other.
      const fiber = yield* Effect.forkDetach(own, { startImmediately: true })
      const answered = fiber.pollUnsafe()
      if (answered !== undefined) {
        requests.delete(one)
        return yield* answered
      }
      return yield* Effect.callback<Response, E>((resume) => {
        const end = (exit: Exit.Exit<Response, E>) => {
          requests.delete(one)
          resume(exit)
        }
        one.giveUp = () => {
          requests.delete(one)
          resume(Reply.unavailable)
          fiber.interruptUnsafe()
        }
        fiber.addObserver(end)
        return Effect.andThen(Effect.sync(() => requests.delete(one)), Fiber.interrupt(fiber))
      })
    })

    return (handler) =>
      Effect.flatMap(
        HttpServerRequest.HttpServerRequest,
        (request) => isLong(request) ? handler : bounded(handler, request)
      )
  }),
  { global: true }
)
