import { Effect } from "effect"
import { createServer, type Server, type Socket } from "node:net"
import { createServer as createTlsServer } from "node:tls"

interface Options {
  /** Certificate and key of a server that speaks TLS from the first byte. */
  readonly tls?: { readonly cert: string; readonly key: string }
  /** True if it requires a user and a password; only `right` is correct. */
  readonly auth?: boolean
  /** Replies by command, instead of `250 fine`. */
  readonly replies?: Readonly<Record<string, string>>
}

const plain = (user: string, password: string) => Buffer.from(`\0${user}\0${password}`).toString("base64")

const serveSmtp = (socket: Socket, received: Array<string>, { auth = false, replies = {} }: Options) => {
  socket.setEncoding("utf8")
  socket.on("error", () => socket.destroy())
  let inData = false
  let end = ""
  socket.write("220 test\r\n")
  socket.on("data", (text: string) => {
    received.push(text)
    end = (end + text).slice(-5)
    if (inData && end !== "\r\n.\r\n") return
    const word = text.slice(0, 4).toUpperCase()
    const given = replies[inData ? "." : word]
    const isRight = text.trim() === `AUTH PLAIN ${plain("murmur", "right")}`
    if (given !== undefined) socket.write(`${given}\r\n`)
    else if (inData) socket.write("250 2.0.0 queued as 4711\r\n")
    else if (word === "DATA") socket.write("354 go on\r\n")
    else if (word === "EHLO" && auth) socket.write("250-test\r\n250 AUTH PLAIN\r\n")
    else if (word === "AUTH") socket.write(isRight ? "235 welcome\r\n" : "535 5.7.8 wrong password\r\n")
    else socket.write("250 fine\r\n")
    inData = !inData && word === "DATA"
  })
}

/** Starts a minimal mail server (RFC 5321) at a port of 127.0.0.1; `received` has what clients send. */
export const mailServer = Effect.fnUntraced(function*(options: Options = {}) {
  const received: Array<string> = []
  const sockets = new Set<Socket>()
  const serve = (socket: Socket) => {
    sockets.add(socket)
    serveSmtp(socket, received, options)
  }
  const server: Server = options.tls === undefined ? createServer(serve) : createTlsServer(options.tls, serve)
  const port = yield* Effect.callback<number>((resume) => {
    server.listen(0, "127.0.0.1", () => {
      const address = server.address()
      resume(Effect.succeed(typeof address === "object" && address !== null ? address.port : 0))
    })
  })
  yield* Effect.addFinalizer(() =>
    Effect.sync(() => {
      server.close()
      for (const socket of sockets) socket.destroy()
    })
  )
  return { received, port }
})
