import { Effect, type Exit, Fiber } from "effect"
import { HttpMethod, HttpRouter, HttpServerRequest, type HttpServerResponse } from "effect/http"
import { elapsedMillis } from "../../services/runtime/ElapsedMillis.ts"
import { ResponseSeconds } from "../../services/runtime/ResponseSeconds.ts"
import * as TimeoutSet from "../../services/runtime/TimeoutSet.ts"
import { takesFiles } from "../body/UploadedFiles.ts"
import { isStreaming } from "../guard/Handshake.ts"
import { InFlight } from "../guard/InFlight.ts"
import * as Reply from "../guard/Reply.ts"

type Response = HttpServerResponse.HttpServerResponse

/** Milliseconds of `ResponseSeconds` that are kept for sending the refusal. */
const refusalMillis = 500
/**
 * Maximum time of a request in milliseconds, without the arrival of its body: a longer one waits for a storage or node
 * that does not respond.
 */
export const responseMillisMax = Effect.map(ResponseSeconds, (seconds) => seconds * 1_000 - refusalMillis)
/** Interval at which overdue requests are looked for. */
const sweepPeriod = "100 millis"

/**
 * Returns true for streams and uploads, which may last: streams stay open, and uploads are stored as they arrive, with
 * their own time limit.
 */
const isLong = ({ method, url }: HttpServerRequest.HttpServerRequest) =>
  isStreaming(url) || (HttpMethod.hasBody(method) && takesFiles(method, url.split("?", 1)[0] ?? url))

/**
 * Responds 503 with `Retry-After` if a request takes too long. Its handler is interrupted but not awaited: a connection
 * to a hanging Postgres takes seconds to close, and an actor may still complete its command. In the router, apply it
 * inside the reading of bodies.
 */
export const layer = HttpRouter.middleware(
  Effect.gen(function*() {
    const requests = yield* TimeoutSet.make(yield* responseMillisMax, sweepPeriod)

    /** Pauses the request's time while it waits for its client. */
    const timed = (one: TimeoutSet.Waiting, outer: InFlight): InFlight => ({
      withoutSlot: Effect.fnUntraced(function*(effect) {
        const timed = requests.delete(one)
        const usedMillis = (yield* elapsedMillis) - one.since
        const resume = Effect.map(elapsedMillis, (now) => {
          one.since = now - usedMillis
          if (timed) requests.add(one)
        })
        return yield* Effect.onExit(outer.withoutSlot(effect), () => resume)
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
      // Takes one fiber and no timer per request; `Effect.timeout` would take two fibers and a timer.
      const fiber = yield* Effect.forkDetach(own, { startImmediately: true })
      const ended = fiber.pollUnsafe()
      if (ended !== undefined) {
        requests.delete(one)
        return yield* ended
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
