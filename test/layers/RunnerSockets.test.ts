import * as NodeSocketServer from "@effect/platform-node-shared/NodeSocketServer"
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect } from "effect"
import type { Socket } from "effect/socket"
import { connect } from "node:net"
import { mortal } from "../../src/layers/RunnerSockets.ts"

/** Has a server answer two messages of a client, the second when the client has broken the connection off. */
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

describe("Sockets between nodes", () => {
  it.live("a reply to a node that is gone fails, also where nothing may interrupt it", () =>
    Effect.gen(function*() {
      assert.strictEqual((yield* conversation(mortal, true))._tag, "SocketError")
      assert.strictEqual((yield* conversation(mortal, false))._tag, "SocketError")
    }))
})
