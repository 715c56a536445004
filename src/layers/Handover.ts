import { Context, Deferred, Effect, Layer, PubSub, Ref } from "effect"
import type { Server } from "node:http"
import type { Server as NetServer } from "node:net"
import { Hub } from "../http/streaming/Hub.ts"
import { Environment } from "./Environment.ts"
import * as Draining from "./handover/Draining.ts"
import * as Predecessor from "./handover/Predecessor.ts"
import * as Successor from "./handover/Successor.ts"
import * as NodeServer from "./NodeServer.ts"
import { PostgresChannel } from "./PostgresChannel.ts"

/**
 * How a server gives its place to a new process of the program, with no connection refused. The running one starts the
 * other and hands the open port over when that one has everything else. It takes no more connections, answers what it
 * was asked, and ends; what comes meanwhile waits for the other. That begins with its actors when the lock of the
 * database is free. An embedded Postgres runs on, and is the other's.
 */
export class Handover extends Context.Service<Handover, {
  /** Whether another server gives its place to this one. */
  readonly expected: boolean
  /** Has the port handed over, then waits for `taken`. That needs what the other server gives up as it ends. */
  readonly takeOver: <A, E, R>(taken: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  readonly tookOver: Effect.Effect<boolean>
  /** Node's server, to listen with; it does so already on a port that was handed over. */
  readonly listener: Effect.Effect<Server>
  /** Whether another server has the place of this one. */
  readonly leaving: Effect.Effect<boolean>
  /** Completes when that is so, and everything is answered. */
  readonly left: Effect.Effect<void>
  /** Gives this server's place to a new process; `stop` ends what stays open by itself. Logs where that fails, and goes on. */
  readonly restart: (stop: Effect.Effect<void>) => Effect.Effect<void>
}>()("murmuration/layers/Handover") {
  static readonly layer = Layer.effect(
    Handover,
    Effect.gen(function*() {
      const { cluster } = yield* Environment
      const expected = yield* Effect.sync(Predecessor.isThere)
      const tookOver = yield* Ref.make(false)
      const leaving = yield* Ref.make(false)
      const left = yield* Deferred.make<void>()
      const serving = yield* Ref.make<Server | undefined>(undefined)

      const restart = Effect.fnUntraced(function*(stop: Effect.Effect<void>) {
        const server = yield* Ref.get(serving)
        if (server === undefined || (yield* Ref.get(leaving))) return
        if (cluster !== undefined) {
          return yield* Effect.logWarning("A node of a cluster is not restarted: stop and start one after the other")
        }
        const pid = yield* Successor.start(server)
        yield* Effect.logInfo(`Process ${pid} takes over from this one`)
        yield* Ref.set(leaving, true)
        yield* Draining.drain(server, stop)
        yield* Deferred.succeed(left, undefined)
      }, Effect.catch((words) => Effect.logError(`The new process did not start, this one goes on: ${words}`)))

      return Handover.of({
        expected,
        takeOver: (taken) =>
          Effect.gen(function*() {
            const port = yield* Predecessor.port
            if (port !== undefined) yield* Ref.set(serving, yield* listeningOn(port))
            const answer = yield* taken
            yield* Ref.set(tookOver, true)
            return answer
          }),
        tookOver: Ref.get(tookOver),
        listener: Ref.modify(serving, (server = NodeServer.make()) => [server, server]),
        leaving: Ref.get(leaving),
        left: Deferred.await(left),
        restart
      })
    })
  )

  /** Restarts when the operator says so. */
  static readonly layerRestarts = Layer.effectDiscard(Effect.gen(function*() {
    const { restart } = yield* Handover
    const hub = yield* Hub
    const signals = yield* (yield* PostgresChannel).subscribe
    yield* Effect.forkScoped(Effect.forever(
      Effect.flatMap(PubSub.take(signals), ({ _tag }) => _tag === "Restart" ? restart(hub.stop) : Effect.void)
    ))
  }))
}

/** A server that listens on the port that was handed over. It does nothing where it is told to listen. */
const listeningOn = (port: NetServer) =>
  Effect.callback<Server>((resume) => {
    const server = NodeServer.make(true)
    server.listen(port, () =>
      resume(Effect.succeed(Object.assign(server, { listen: (_options: unknown, done: () => void) => done() }))))
  })
