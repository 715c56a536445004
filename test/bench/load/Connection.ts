import { connect, type Socket } from "node:net"

/** A request of a load; `{n}` in the body is replaced by a unique number. */
export interface Request {
  readonly method: "GET" | "POST" | "DELETE"
  readonly path: string
  readonly token?: string
  readonly body?: string
  /** Replaces the default headers, which are those of an app. */
  readonly headers?: Readonly<Record<string, string>>
}

const headEnd = "\r\n\r\n"

/** A keep-alive connection that carries one request at a time. Cheap, because it shares the machine with the server. */
export class Connection {
  readonly #socket: Socket
  readonly #port: number
  #received = ""
  #waiting: ((status: number) => void) | undefined
  #closed = false

  constructor(port: number) {
    this.#port = port
    this.#socket = connect({ port, host: "127.0.0.1", noDelay: true })
    this.#socket.setEncoding("latin1")
    this.#socket.on("data", (text) => this.#take(String(text)))
    this.#socket.on("error", () => this.#reply(0))
    this.#socket.on("close", () => {
      this.#closed = true
      this.#reply(0)
    })
  }

  /** True after either side has closed the connection. */
  get closed() {
    return this.#closed
  }

  /** Sends a request; returns its status, or 0 if the connection broke. */
  send({ body, headers, method, path, token }: Request): Promise<number> {
    const given = Object.entries(headers ?? { host: `127.0.0.1:${this.#port}`, accept: "application/json" })
    const lines = [`${method} ${path} HTTP/1.1`, ...given.map(([name, value]) => `${name}: ${value}`)]
    if (token !== undefined) lines.push(`authorization: Bearer ${token}`)
    if (body !== undefined) {
      if (headers === undefined) lines.push("content-type: application/json")
      lines.push(`content-length: ${Buffer.byteLength(body)}`)
    }
    return new Promise((resolve) => {
      this.#waiting = resolve
      this.#socket.write(lines.join("\r\n") + headEnd + (body ?? ""))
    })
  }

  close() {
    this.#socket.destroy()
  }

  #take(text: string) {
    this.#received = this.#received === "" ? text : this.#received + text
    const head = this.#received.indexOf(headEnd)
    if (head === -1) return
    const length = /\r\ncontent-length: (\d+)/i.exec(this.#received.slice(0, head))
    if (this.#received.length < head + headEnd.length + Number(length?.[1] ?? 0)) return
    const status = Number(this.#received.slice(9, 12))
    this.#received = ""
    this.#reply(status)
  }

  #reply(status: number) {
    const waiting = this.#waiting
    this.#waiting = undefined
    waiting?.(status)
  }
}
