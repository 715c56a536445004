import * as NodeClusterSocket from "@effect/platform-node-shared/NodeClusterSocket"
import * as NodeSocket from "@effect/platform-node-shared/NodeSocket"
import { Deferred, Effect, Layer, Schedule } from "effect"
import { Runners } from "effect/cluster"
import { RpcClient, RpcSerialization } from "effect/rpc"
import { Socket, SocketServer } from "effect/socket"

/** How long a node may take to accept a connection. */
const openTimeout = "1 second"
/** How often a node that does not accept one, or broke it off, is tried again; who is gone for good is soon no node any more. */
const reconnectPeriod = "250 millis"

/**
 * How other nodes are reached. In effect 4.1 the pause before the next try grows to five seconds with every connection
 * that this node ever lost. All accounts of a node that is back would be away for as long.
 */
export const layerClientProtocol = Layer.effect(
  Runners.RpcClientProtocol,
  Effect.map(RpcSerialization.RpcSerialization, (serialization) =>
    Runners.RpcClientProtocol.of({
      codecFor: serialization.codecFor,
      make: Effect.fnUntraced(function*({ host, port }) {
        return yield* RpcClient.makeProtocolSocket({ retryPolicy: Schedule.spaced(reconnectPeriod) }).pipe(
          Effect.provideService(Socket.Socket, yield* NodeSocket.makeNet({ openTimeout, host, port })),
          Effect.provideService(RpcSerialization.RpcSerialization, serialization)
        )
      })
    }))
)

/**
 * What other nodes connect to. A reply to a node that is gone fails. In effect 4.1 it waits for that connection to come
 * back, which an accepted one never does: the reply's fiber stays, and a server that stops waits for it.
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
