import { connect, type Socket } from "node:net"
import type { Dice } from "../../simulation/Seeded.ts"

/** Ways to hold a connection without completing a request. */
const kinds = [
  "silent",
  "half a line",
  "a byte at a time",
  "a body that stops",
  "a body a byte at a time",
  "an incomplete upgrade",
  "kept alive",
  "unread responses",
  "closed during a response",
  "no HTTP"
] as const

/** Source addresses; some are used more often than the limit per address. */
const addressOf = (number: number) => `127.0.${number + 1}.1`
export const addresses = Array.from({ length: 20 }, (_, number) => addressOf(number))

/** Returns true if a request from an address gets a response. */
export const isServed = (port: number, localAddress: string) =>
  new Promise<boolean>((resolve) => {
    const socket = connect({ port, host: "127.0.0.1", localAddress })
    socket.on("error", () => {})
    socket.once("data", (data) => {
      resolve(String(data).startsWith("HTTP/1.1 200"))
      socket.destroy()
    })
    socket.once("close", () => resolve(false))
    socket.write("GET /address HTTP/1.1\r\nhost: test\r\n\r\n")
  })

/** Milliseconds between bytes of a slow request: below every deadline, and little work for a busy machine. */
const writeMillis = 100

const writeSlowly = (socket: Socket, next: () => string) => {
  const timer = setInterval(() => socket.write(next()), writeMillis)
  socket.once("close", () => clearInterval(timer))
}

/** Opens a connection of one of the kinds. */
export const holdOpen = (dice: Dice, port: number) => {
  const kind = dice.pick(kinds)
  const socket: Socket = connect({ port, host: "127.0.0.1", localAddress: dice.pick(addresses) })
  socket.on("error", () => {})
  const head = `GET /large HTTP/1.1\r\nhost: test\r\n\r\n`
  switch (kind) {
    case "silent":
      break
    case "half a line":
      socket.write(head.slice(0, dice.between(1, 12)))
      break
    case "a byte at a time": {
      let at = 0
      writeSlowly(socket, () => at < 12 ? head[at++]! : "x")
      break
    }
    case "a body a byte at a time":
      socket.write(
        "POST /api/v1/echo HTTP/1.1\r\nhost: test\r\ncontent-type: application/json\r\ncontent-length: 60000\r\n\r\n"
      )
      writeSlowly(socket, () => " ")
      break
    case "a body that stops":
      socket.write(
        `POST /api/v1/echo HTTP/1.1\r\nhost: test\r\ncontent-type: application/json\r\n${
          dice.chance(0.5) ? "content-length: 400" : "transfer-encoding: chunked"
        }\r\n\r\n${dice.pick(["", "5\r\n{\"a\":\r\n", "{\"a"])}`
      )
      break
    case "an incomplete upgrade":
      socket.write(
        `${
          dice.pick(["GET /large", "GET /api/v1/streaming", "POST /api/v1/echo"])
        } HTTP/1.1\r\nhost: test\r\nconnection: upgrade\r\nupgrade: ${
          dice.pick(["websocket", "h2c", "x"])
        }\r\ncontent-length: 9\r\n\r\n`
      )
      break
    case "kept alive":
      socket.resume()
      socket.write("GET /address HTTP/1.1\r\nhost: test\r\n\r\n")
      break
    case "unread responses":
      socket.pause()
      socket.write(head.repeat(dice.between(1, 20)))
      break
    case "closed during a response":
      socket.write(head)
      socket.once("data", () => dice.chance(0.5) ? socket.resetAndDestroy() : socket.destroy())
      break
    case "no HTTP":
      socket.write(dice.pick(["\u0016\u0003\u0001", "SSH-2.0-x\r\n", "\r\n\r\n\r\n", "GET / HTTP/9.9\r\n\r\n"]))
      break
  }
  return { kind, socket }
}
