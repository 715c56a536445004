import { Server, type Socket } from "node:net"

/*
 * Preload of a cluster node. SIGUSR2 closes the port for other nodes with all of its connections; the next SIGUSR2
 * reopens it.
 */
const port = Number(process.env["CLUSTER_PORT"])
const sockets = new Set<Socket>()
let closed = false

const isClusters = (server: Server) => {
  const address = server.address()
  return typeof address === "object" && address?.port === port
}

const emit = Server.prototype.emit
Server.prototype.emit = function(this: Server, event: string, ...args: ReadonlyArray<unknown>) {
  const [socket] = args
  if (event === "connection" && isClusters(this)) {
    const accepted = socket as Socket
    if (closed) {
      accepted.destroy()
      return true
    }
    sockets.add(accepted)
    accepted.once("close", () => sockets.delete(accepted))
  }
  return Reflect.apply(emit, this, [event, ...args])
}

process.on("SIGUSR2", () => {
  closed = !closed
  if (closed) { for (const socket of sockets) socket.destroy() }
})
