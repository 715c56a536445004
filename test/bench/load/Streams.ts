import { connect, type Socket } from "node:net"
import { Connection } from "./Connection.ts"

/** First byte of a whole text message (RFC 6455, 5.2). */
const textFrame = 0x81

/** WebSockets on the `user` stream that report when a message arrives, without parsing it. */
export class Streams {
  readonly #sockets: Array<Socket> = []
  #received: (socket: number) => void = () => {}

  async open(port: number, tokens: ReadonlyArray<string>) {
    const batch = 50
    for (let at = 0; at < tokens.length; at += batch) {
      await Promise.all(tokens.slice(at, at + batch).map((token, n) => this.#connect(port, token, at + n)))
    }
  }

  #connect(port: number, token: string, number: number) {
    return new Promise<void>((resolve, reject) => {
      const socket = connect({ port, host: "127.0.0.1", noDelay: true })
      this.#sockets.push(socket)
      socket.once("error", reject)
      socket.once("data", (head) => {
        if (!String(head).startsWith("HTTP/1.1 101")) return reject(new Error(String(head).slice(0, 100)))
        socket.on("data", (data) => {
          if (typeof data !== "string" && data[0] === textFrame) this.#received(number)
        })
        resolve()
      })
      socket.write(
        `GET /api/v1/streaming?stream=user HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: Upgrade\r\nupgrade: websocket\r\n` +
          `sec-websocket-version: 13\r\nsec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==\r\nauthorization: Bearer ${token}\r\n\r\n`
      )
    })
  }

  /**
   * Publishes `posts` posts, `pause` milliseconds apart. Returns the milliseconds from each post to each socket's next
   * message; a message later than `patience` milliseconds counts as `patience`.
   */
  async events(port: number, token: string, posts: number, pause: number, latencyMax: number): Promise<Array<number>> {
    const connection = new Connection(port)
    const delays: Array<number> = []
    for (let post = 0; post < posts; post++) {
      const received = new Set<number>()
      const sent = performance.now()
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, latencyMax)
        this.#received = (socket) => {
          if (received.has(socket)) return
          received.add(socket)
          delays.push(performance.now() - sent)
          if (received.size < this.#sockets.length) return
          clearTimeout(timer)
          resolve()
        }
        const status = `a post for all listeners, number ${post} of ${sent}`
        void connection.send({ method: "POST", path: "/api/v1/statuses", token, body: JSON.stringify({ status }) })
      })
      for (let missing = received.size; missing < this.#sockets.length; missing++) delays.push(latencyMax)
      await new Promise((resolve) => setTimeout(resolve, pause))
    }
    connection.close()
    return delays
  }

  close() {
    for (const socket of this.#sockets.splice(0)) socket.destroy()
  }
}
