import * as NodeClusterSocket from "@effect/platform-node-shared/NodeClusterSocket"
import * as NodeSocket from "@effect/platform-node-shared/NodeSocket"
import { Deferred, Effect, Layer, Schedule } from "effect"
import { Runners } from "effect/cluster"
import { RpcClient, RpcSerialization } from "effect/rpc"
import { Socket, SocketServer } from "effect/socket"

/** Timeout for connecting to a node. */
const openTimeout = "1 second"
/** Delay before the next attempt to connect to a node; a node that is gone soon leaves the cluster. */
const reconnectPeriod = "250 millis"

/**
 * Client protocol to other nodes. In effect 4.1 the delay before a reconnect grows to five seconds with every
 * connection that this node ever lost. All accounts of a node that is back would be unavailable for as long.
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
 * Socket server for other nodes. A reply to a node that is gone fails. In effect 4.1 the reply waits for its connection
 * to come back, which an accepted one never does: the reply's fiber stays, and a stopping server waits for it.
 */
export const layerServer = Layer.effect(
  SocketServer.SocketServer,
  Effect.map(
    SocketServer.SocketServer,
    ({ address, run }) =>
      SocketServer.SocketServer.of({ address, run: (handler) => run((socket) => handler(failAfterClose(socket))) })
  )
).pipe(Layer.provide(NodeClusterSocket.layerSocketServer))

/** Wraps a connection so that its writes fail as soon as its reader has ended. */
export const failAfterClose = (socket: Socket.Socket): Socket.Socket => {
  const closed = Deferred.makeUnsafe<never, Socket.SocketError>()
  const end = (error: Socket.SocketError) => Deferred.fail(closed, error)
  const whileThere = (write: Effect.Effect<void, Socket.SocketError>) =>
    Effect.suspend(() =>
      Deferred.isDoneUnsafe(closed)
        ? Deferred.await(closed)
        : Effect.raceFirst(Effect.interruptible(write), Deferred.await(closed))
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
