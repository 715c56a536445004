import { createServer } from "node:http"
import { createServer as createTcpServer } from "node:net"

/*
 * Inboxes of all other servers of the bench, in one process: every address of 127.0.0.0/8 is a separate host. One port
 * accepts everything; another one accepts connections and never responds.
 */

export type Order = { readonly kind: "ports" } | { readonly kind: "reset" } | { readonly kind: "taken" }

/** Requests since the reset, distinct inboxes by path and host, and the time of the last new one. */
export interface Taken {
  readonly requests: number
  readonly inboxes: number
  /** Milliseconds since 1970. */
  readonly lastAt: number
}

let taken = new Set<string>()
let [requests, lastAt] = [0, 0]

const server = createServer((request, response) => {
  request.resume().once("end", () => {
    const before = taken.size
    taken.add(`${request.headers.host}${request.url}`)
    if (taken.size > before) lastAt = Date.now()
    requests++
    response.writeHead(202, { "content-length": "0" }).end()
  })
})
server.keepAliveTimeout = 60_000
const silent = createTcpServer((socket) => void socket.on("error", () => {}))

const closed = createTcpServer()

const portOf = (address: ReturnType<typeof server.address>) =>
  typeof address === "object" && address !== null ? address.port : 0

server.listen(0, "0.0.0.0", 4_096)
silent.listen(0, "0.0.0.0", 4_096)
// A port without a listener.
let closedPort = 0
closed.listen(0, "127.0.0.1", () => {
  closedPort = portOf(closed.address())
  closed.close()
})

process.on("message", ({ kind }: Order) => {
  if (kind === "reset") {
    taken = new Set()
    requests = lastAt = 0
  }
  const reply: unknown = kind === "ports"
    ? { taking: portOf(server.address()), silent: portOf(silent.address()), closed: closedPort }
    : { requests, inboxes: taken.size, lastAt }
  process.send?.({ reply })
})
process.on("disconnect", () => process.exit(0))
