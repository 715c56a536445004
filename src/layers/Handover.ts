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
import * as ServiceManager from "./ServiceManager.ts"

/**
 * Handover of a running server to a new process of the program, without refusing a connection. The running server
 * starts the new process, and passes the open port when that has everything else. It then accepts no more connections,
 * completes its requests, and ends; new connections wait for the successor. The successor starts its actors when the
 * database lock is free. An embedded Postgres runs on and belongs to the successor.
 */
export class Handover extends Context.Service<Handover, {
  /** True if another server hands over to this one. */
  readonly expected: boolean
  /** Receives the port, then waits for `taken`, which needs what the other server releases when it ends. */
  readonly takeOver: <A, E, R>(taken: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  readonly tookOver: Effect.Effect<boolean>
  /** Node's server to listen with; on a passed port it already listens. */
  readonly listener: Effect.Effect<Server>
  /** True if a successor has taken over. */
  readonly leaving: Effect.Effect<boolean>
  /** Completes when a successor has taken over and all requests have their response. */
  readonly left: Effect.Effect<void>
  /**
   * Hands over to a new process; `stop` ends streams that would stay open. A failure is logged, and this server
   * continues.
   */
  readonly restart: (stop: Effect.Effect<void>) => Effect.Effect<void>
}>()("murmuration/layers/Handover") {
  static readonly layer = Layer.effect(
    Handover,
    Effect.gen(function*() {
      const { cluster } = yield* Environment
      const expected = yield* Effect.sync(Predecessor.exists)
      const tookOver = yield* Ref.make(false)
      const leaving = yield* Ref.make(false)
      const left = yield* Deferred.make<void>()
      const serving = yield* Ref.make<Server | undefined>(undefined)

      const restart = Effect.fnUntraced(function*(stop: Effect.Effect<void>) {
        const server = yield* Ref.get(serving)
        if (server === undefined || (yield* Ref.get(leaving))) return
        if (cluster !== undefined) {
          return yield* Effect.logWarning("A cluster node cannot restart in place: stop and start the nodes one by one")
        }
        const pid = yield* Successor.start(server)
        yield* ServiceManager.announceSuccessor(pid)
        yield* Effect.logInfo(`Process ${pid} takes over from this one`)
        yield* Ref.set(leaving, true)
        yield* Draining.drain(server, stop)
        yield* Deferred.succeed(left, undefined)
      }, Effect.catch((words) => Effect.logError(`The new process did not start; this one continues: ${words}`)))

      return Handover.of({
        expected,
        takeOver: (taken) =>
          Effect.gen(function*() {
            const port = yield* Predecessor.port
            if (port !== undefined) yield* Ref.set(serving, yield* listeningOn(port))
            const successor = yield* taken
            yield* Ref.set(tookOver, true)
            return successor
          }),
        tookOver: Ref.get(tookOver),
        listener: Ref.modify(serving, (server = NodeServer.make()) => [server, server]),
        leaving: Ref.get(leaving),
        left: Deferred.await(left),
        restart
      })
    })
  )

  /** Restarts on the operator's signal. */
  static readonly layerRestarts = Layer.effectDiscard(Effect.gen(function*() {
    const { restart } = yield* Handover
    const hub = yield* Hub
    const signals = yield* (yield* PostgresChannel).subscribe
    yield* Effect.forkScoped(Effect.forever(
      Effect.flatMap(PubSub.take(signals), ({ _tag }) => _tag === "Restart" ? restart(hub.stop) : Effect.void)
    ))
  }))
}

/** Returns a server that listens on the passed port; its own `listen` does nothing. */
const listeningOn = (port: NetServer) =>
  Effect.callback<Server>((resume) => {
    const server = NodeServer.make(true)
    server.listen(port, () =>
      resume(Effect.succeed(Object.assign(server, { listen: (_options: unknown, done: () => void) => done() }))))
  })
