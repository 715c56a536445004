import { createServer } from "node:http"
import { WebSocketServer } from "ws"

/* Upper bound of this machine: a Node server that sends the same bytes for every request. */

/** Size of an instance's JSON or of a status event. */
const bytes = 2_000
const body = JSON.stringify({ text: "x".repeat(bytes) })

const sockets = new WebSocketServer({ noServer: true, perMessageDeflate: false })
const server = createServer((request, response) => {
  request.resume().once("end", () => {
    response.setHeader("content-type", "application/json")
    response.setHeader("content-length", body.length)
    response.end(body)
    if (request.method === "POST") { for (const socket of sockets.clients) socket.send(body) }
  })
})
server.on("upgrade", (request, socket, head) => sockets.handleUpgrade(request, socket, head, () => {}))
server.listen(0, "127.0.0.1", () => {
  const address = server.address()
  process.once("message", () => process.send?.({ reply: typeof address === "object" ? address?.port : undefined }))
})
