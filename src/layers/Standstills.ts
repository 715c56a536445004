import { Clock, Context, Effect, Schedule } from "effect"
import { HttpRouter, HttpServerRequest } from "effect/http"
import { Statement } from "effect/sql"
import { unavailable } from "../http/guard/Reply.ts"
import { ProcessStalled } from "../services/runtime/StoodStill.ts"

/** Pause after which a process counts as stalled, in milliseconds: as long as clients wait for a command. */
export const stallMillisMax = 5_000
const beatPeriod = "500 millis"
/**
 * Heartbeats after a stall, including the immediate one, until no request from before it is left to read. Between two
 * beats everything that has arrived is read, even on a busy machine.
 */
export const beatsAfterStall = 3

/**
 * Refuses stale requests after a stall (a frozen machine, SIGSTOP). Their clients gave up long ago, and may have used
 * another node or undone the change. The age of a request is unknown, so all requests that change something are
 * refused. Those already in progress start no more commands or queries.
 */
export const layer = HttpRouter.middleware(
  Effect.gen(function*() {
    const clock = yield* Clock.Clock
    let lastBeat = clock.currentTimeMillisUnsafe()
    let [standstills, beatsLeft] = [0, 0]
    const check = () => {
      const now = clock.currentTimeMillisUnsafe()
      if (now - lastBeat > stallMillisMax) {
        standstills++
        beatsLeft = beatsAfterStall
      }
      lastBeat = now
    }
    const beat = Effect.sync(() => {
      check()
      if (beatsLeft > 0) beatsLeft--
    })
    yield* Effect.forkScoped(Effect.repeat(beat, Schedule.spaced(beatPeriod)))
    return (handler) =>
      Effect.contextWith((context: Context.Context<HttpServerRequest.HttpServerRequest>) => {
        const { method } = Context.get(context, HttpServerRequest.HttpServerRequest)
        if (method === "GET" || method === "HEAD" || method === "OPTIONS") return handler
        check()
        if (beatsLeft > 0) return unavailable
        const before = standstills
        const hasStalled = () => {
          check()
          return standstills > before
        }
        // Work that the request left running, such as an account's fan-out, is not affected.
        let over = false
        const end = () =>
          Effect.sync(() => {
            over = true
          })
        const asked: Statement.Transformer = (statement) =>
          !over && hasStalled() ? Effect.flatMap(unavailable, Effect.die) : Effect.succeed(statement)
        return Effect.onExit(
          Effect.updateContext(handler, (outer: typeof context) =>
            Context.add(Context.add(outer, ProcessStalled, hasStalled), Statement.CurrentTransformer, asked)),
          end
        )
      })
  }),
  { global: true }
)
