import { Clock, Context, Effect, Schedule } from "effect"
import { HttpRouter, HttpServerRequest } from "effect/http"
import { Statement } from "effect/sql"
import { unavailable } from "../http/guard/Reply.ts"
import { StoodStill } from "../services/StoodStill.ts"

/** A process that did nothing for longer stood still, in milliseconds: as long as clients wait for a command. */
export const standstillMillisMax = 5_000
const beatPeriod = "500 millis"
/**
 * Beats from the end of a standstill, the one that comes at once among them, until nothing is read that was asked
 * before. Between two of them everything that has arrived is read, however long a busy machine takes for that.
 */
export const aftermathBeats = 3

/**
 * A process that stood still (a frozen machine, SIGSTOP) finds old requests. Their clients gave up long ago, asked
 * another node and had it undone since. Nobody can tell how old they are, so that those that change something are
 * refused; those that it had begun with begin no command any more, and ask the database for nothing.
 */
export const layer = HttpRouter.middleware(
  Effect.gen(function*() {
    const clock = yield* Clock.Clock
    let heard = clock.currentTimeMillisUnsafe()
    let [standstills, beatsLeft] = [0, 0]
    const look = () => {
      const now = clock.currentTimeMillisUnsafe()
      if (now - heard > standstillMillisMax) {
        standstills++
        beatsLeft = aftermathBeats
      }
      heard = now
    }
    const beat = Effect.sync(() => {
      look()
      if (beatsLeft > 0) beatsLeft--
    })
    yield* Effect.forkScoped(Effect.repeat(beat, Schedule.spaced(beatPeriod)))
    return (handler) =>
      Effect.contextWith((context: Context.Context<HttpServerRequest.HttpServerRequest>) => {
        const { method } = Context.get(context, HttpServerRequest.HttpServerRequest)
        if (method === "GET" || method === "HEAD" || method === "OPTIONS") return handler
        look()
        if (beatsLeft > 0) return unavailable
        const before = standstills
        const stoodStill = () => {
          look()
          return standstills > before
        }
        // Work that it left running, such as an account's fan-out, is nobody's request any more.
        let over = false
        const end = () =>
          Effect.sync(() => {
            over = true
          })
        const asked: Statement.Transformer = (statement) =>
          !over && stoodStill() ? Effect.flatMap(unavailable, Effect.die) : Effect.succeed(statement)
        return Effect.onExit(
          Effect.updateContext(handler, (outer: typeof context) =>
            Context.add(Context.add(outer, StoodStill, stoodStill), Statement.CurrentTransformer, asked)),
          end
        )
      })
  }),
  { global: true }
)
