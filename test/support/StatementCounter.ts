import { Effect } from "effect"
import { connect, createServer, type Socket } from "node:net"

/** Message types of clients that run a prepared statement or a simple query. */
const runs = new Set(["E".charCodeAt(0), "Q".charCodeAt(0)])
const lengthBytes = 4

/** Counts the messages of a session that run statements. A session's first message has no type. */
const counter = (count: () => void) => {
  let rest = Buffer.alloc(0)
  let typeBytes = 0
  return (part: Buffer) => {
    rest = Buffer.concat([rest, part])
    while (rest.length >= typeBytes + lengthBytes) {
      const length = typeBytes + rest.readInt32BE(typeBytes)
      if (rest.length < length) return
      if (typeBytes > 0 && runs.has(rest[0] ?? 0)) count()
      typeBytes = 1
      rest = rest.subarray(length)
    }
  }
}

/** A proxy URL of the same database that counts every statement, including those that begin and end transactions. */
export const counting = Effect.fnUntraced(function*(database: string) {
  const { hostname, port: databasePort } = new URL(database)
  let statements = 0
  const sockets = new Set<Socket>()
  const server = createServer((client) => {
    const postgres = connect(Number(databasePort), hostname)
    const count = counter(() => statements++)
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
  return { url: url.href, statements: () => statements }
})
