import { Effect } from "effect"
import { connect, createServer, type Socket } from "node:net"

/** Types of a client's messages: parse a statement, bind it to a portal, execute a portal, run a simple query. */
const [parse, bind, execute, query] = ["P", "B", "E", "Q"].map((letter) => letter.charCodeAt(0))
const lengthBytes = 4

/** Returns the two zero-terminated strings at the start of a message's content. */
const strings = (content: Buffer) => content.toString("latin1").split("\0", 2)

/** Calls `count` with the text of each statement that a session runs. A session's first message has no type. */
const counter = (count: (text: string) => void) => {
  const texts = new Map<string, string>()
  const portals = new Map<string, string>()
  let rest = Buffer.alloc(0)
  let typeBytes = 0
  const read = (type: number | undefined, content: Buffer) => {
    const [first = "", second = ""] = strings(content)
    if (type === parse) texts.set(first, second)
    if (type === bind) portals.set(first, texts.get(second) ?? "")
    if (type === execute) count(portals.get(first) ?? "")
    if (type === query) count(first)
  }
  return (part: Buffer) => {
    rest = Buffer.concat([rest, part])
    while (rest.length >= typeBytes + lengthBytes) {
      const length = typeBytes + rest.readInt32BE(typeBytes)
      if (rest.length < length) return
      if (typeBytes > 0) read(rest[0], rest.subarray(typeBytes + lengthBytes, length))
      typeBytes = 1
      rest = rest.subarray(length)
    }
  }
}

/**
 * Returns a proxy URL of the same database that counts every statement, in total and by text, including those that
 * begin and end transactions.
 */
export const counting = Effect.fnUntraced(function*(database: string) {
  const { hostname, port: databasePort } = new URL(database)
  let statements = 0
  const runs = new Map<string, number>()
  const sockets = new Set<Socket>()
  const server = createServer((client) => {
    const postgres = connect(Number(databasePort), hostname)
    const count = counter((text) => {
      statements++
      runs.set(text, (runs.get(text) ?? 0) + 1)
    })
    client.on("data", count)
    client.pipe(postgres).pipe(client)
    for (const socket of [client, postgres]) {
      sockets.add(socket)
      socket.on("error", () => socket.destroy())
      socket.on("close", () => sockets.delete(socket))
    }
  })
  const port = yield* Effect.acquireRelease(
    Effect.callback<number>((resume) => {
      server.listen(0, "127.0.0.1", () => {
        const address = server.address()
        resume(Effect.succeed(typeof address === "object" && address !== null ? address.port : 0))
      })
    }),
    () =>
      Effect.sync(() => {
        for (const socket of sockets) socket.destroy()
        server.close()
      })
  )
  const url = new URL(database)
  url.host = `127.0.0.1:${port}`
  url.search = ""
  return { url: url.href, statements: () => statements, runs: (): ReadonlyMap<string, number> => new Map(runs) }
})
