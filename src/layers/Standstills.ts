import { Clock, Context, Effect, Schedule } from "effect"
import { HttpRouter, HttpServerRequest } from "effect/http"
import { unavailable } from "../http/guard/Reply.ts"
import { StoodStill } from "../services/StoodStill.ts"

/** A process that did nothing for longer stood still, in milliseconds: as long as clients wait for a command. */
export const standstillMillisMax = 5_000
/** How long it takes afterwards until nothing is read any more that was asked before, in milliseconds. */
export const aftermathMillis = 1_000
const beatPeriod = "500 millis"

/**
 * A process that stood still (a frozen machine, SIGSTOP) finds requests whose clients gave up long ago, asked another node and
 * had it undone since. Nobody can tell how old they are, so that those that change something are refused; those that it had
 * begun with begin no command any more.
 */
export const layer = HttpRouter.middleware(
  Effect.gen(function*() {
    const clock = yield* Clock.Clock
    let beat = clock.currentTimeMillisUnsafe()
    let [standstills, refusedUntil] = [0, 0]
    const look = () => {
      const now = clock.currentTimeMillisUnsafe()
      if (now - beat > standstillMillisMax) {
        standstills++
        refusedUntil = now + aftermathMillis
      }
      beat = now
      return now
    }
    yield* Effect.forkScoped(Effect.repeat(Effect.sync(look), Schedule.spaced(beatPeriod)))
    return (handler) =>
      Effect.contextWith((context: Context.Context<HttpServerRequest.HttpServerRequest>) => {
        const { method } = Context.get(context, HttpServerRequest.HttpServerRequest)
        if (method === "GET" || method === "HEAD" || method === "OPTIONS") return handler
        if (look() < refusedUntil) return unavailable
        const before = standstills
        return Effect.provideService(handler, StoodStill, () => {
          look()
          return standstills > before
        })
      })
  }),
  { global: true }
)
