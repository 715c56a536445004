import * as NodeClusterSocket from "@effect/platform-node-shared/NodeClusterSocket"
import { Deferred, Effect, Layer } from "effect"
import { Socket, SocketServer } from "effect/socket"

/**
 * What other nodes connect to. A reply to a node that is gone fails, whereas in effect 4.1 it waits for that connection
 * to come back, which one that was accepted never does: the reply's fiber stays, and a server that stops waits for it.
 */
export const layerServer = Layer.effect(
  SocketServer.SocketServer,
  Effect.map(
    SocketServer.SocketServer,
    ({ address, run }) =>
      SocketServer.SocketServer.of({ address, run: (handler) => run((socket) => handler(mortal(socket))) })
  )
).pipe(Layer.provide(NodeClusterSocket.layerSocketServer))

/** The same connection, whose writes fail as soon as reading from it has ended. */
export const mortal = (socket: Socket.Socket): Socket.Socket => {
  const gone = Deferred.makeUnsafe<never, Socket.SocketError>()
  const end = (error: Socket.SocketError) => Deferred.fail(gone, error)
  const whileThere = (write: Effect.Effect<void, Socket.SocketError>) =>
    Effect.suspend(() =>
      Deferred.isDoneUnsafe(gone)
        ? Deferred.await(gone)
        : Effect.raceFirst(Effect.interruptible(write), Deferred.await(gone))
    )
  return Socket.make({
    reader: Effect.gen(function*() {
      yield* Effect.addFinalizer(() =>
        end(new Socket.SocketError({ reason: new Socket.SocketCloseError({ code: 1006 }) }))
      )
      const { pull, upgrade } = yield* socket.reader
      return { pull: Effect.tapError(pull, end), upgrade }
    }),
    writer: Effect.map(socket.writer, ({ write, writeAll }) => ({
      write: (chunk) => whileThere(write(chunk)),
      writeAll: (chunks) => whileThere(writeAll(chunks))
    }))
  })
}
