import * as NodeSocketServer from "@effect/platform-node-shared/NodeSocketServer"
import { assert, describe, it } from "@effect/vitest"
import { Context, Deferred, Effect, Layer } from "effect"
import { RunnerAddress, Runners } from "effect/cluster"
import { RpcSerialization } from "effect/rpc"
import type { Socket } from "effect/socket"
import { TestClock } from "effect/testing"
import { connect, createServer } from "node:net"
import * as RunnerSockets from "../../src/layers/RunnerSockets.ts"

/** Runs a server that responds to two messages of a client that closes the connection before the second response. */
const conversation = (handle: (socket: Socket.Socket) => Socket.Socket, keepReading: boolean) =>
  Effect.gen(function*() {
    const server = yield* NodeSocketServer.make({ port: 0, host: "127.0.0.1" })
    const port = "port" in server.address ? server.address.port : 0
    const heard = yield* Deferred.make<string>()
    const replied = yield* Deferred.make<void, Socket.SocketError>()
    const serve = Effect.fnUntraced(function*(accepted: Socket.Socket) {
      const socket = handle(accepted)
      const { write } = yield* socket.writer
      const read = Effect.gen(function*() {
        const { pull } = yield* socket.reader
        yield* pull
        yield* write("one")
        return yield* Effect.forever(pull)
      })
      yield* Effect.ignore(keepReading ? read : Effect.scoped(read))
      yield* Effect.forkDetach(Effect.uninterruptible(Deferred.into(write("two"), replied)))
    }, Effect.scoped)
    yield* Effect.forkScoped(server.run(serve))
    const client = connect(port, "127.0.0.1", () => client.write("hello"))
    client.on("data", (data) => {
      Deferred.doneUnsafe(heard, Effect.succeed(String(data)))
      client.resetAndDestroy()
    })
    assert.strictEqual(yield* Deferred.await(heard), "one")
    return yield* Effect.flip(Deferred.await(replied))
  }).pipe(Effect.scoped)

/** A node that breaks off every accepted connection; counts the connections. */
const unsteady = Effect.gen(function*() {
  let accepted = 0
  const server = createServer((socket) => {
    accepted++
    socket.resetAndDestroy()
  })
  yield* Effect.acquireRelease(
    Effect.callback<void>((resume) => void server.listen(0, "127.0.0.1", () => resume(Effect.void))),
    () => Effect.sync(() => server.close())
  )
  const address = server.address()
  const port = address !== null && typeof address === "object" ? address.port : 0
  return { port, accepted: () => accepted }
})

describe("Sockets between nodes", () => {
  it.effect("F60: a node that is back is found within a second, however often connections were lost before", () =>
    Effect.gen(function*() {
      const { accepted, port } = yield* unsteady
      const context = yield* Layer.build(
        RunnerSockets.layerClientProtocol.pipe(Layer.provide(RpcSerialization.layerSchemaBinary()))
      )
      yield* Context.get(context, Runners.RpcClientProtocol).make(RunnerAddress.make("127.0.0.1", port))
      for (let lost = 0; lost < 12; lost++) {
        const before = accepted()
        yield* TestClock.adjust("1 second")
        yield* TestClock.withLive(
          Effect.repeat(Effect.sleep("2 millis"), { while: () => accepted() === before, times: 20_000 })
        )
        assert.isAbove(accepted(), before)
        // The runner's reaction to the lost connection precedes the wait.
        yield* TestClock.withLive(Effect.sleep("50 millis"))
      }
    }))

  it.live("a reply to a node that is gone fails, also where nothing may interrupt it", () =>
    Effect.gen(function*() {
      assert.strictEqual((yield* conversation(RunnerSockets.failAfterClose, true))._tag, "SocketError")
      assert.strictEqual((yield* conversation(RunnerSockets.failAfterClose, false))._tag, "SocketError")
    }))
})
