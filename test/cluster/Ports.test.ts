import { NodeCrypto, NodeServices } from "@effect/platform-node"
import { assert, layer } from "@effect/vitest"
import { Effect, FileSystem, Layer } from "effect"
import { readdirSync, readFileSync, readlinkSync } from "node:fs"
import { connect } from "node:net"
import { freePort } from "../support/ports.ts"
import * as Program from "../support/Program.ts"
import { redisUrl } from "../support/RedisServer.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { startNode } from "./Nodes.ts"

const loopback = "0100007F"

/** Returns the listening sockets of a process as the kernel writes them: hexadecimal address and port. */
const listening = (pid: number): ReadonlyArray<string> => {
  const links = new Set(
    readdirSync(`/proc/${pid}/fd`).map((fd) => {
      try {
        return readlinkSync(`/proc/${pid}/fd/${fd}`)
      } catch {
        return "closed in the meantime"
      }
    })
  )
  const listenState = "0A"
  return ["tcp", "tcp6"].flatMap((table) => readFileSync(`/proc/${pid}/net/${table}`, "utf8").split("\n").slice(1))
    .map((line) => line.trim().split(/\s+/))
    .filter(([, , , state, , , , , , inode]) => state === listenState && links.has(`socket:[${inode}]`))
    .map(([, local = ""]) => local.replace(/:(\w+)$/, (_, port) => `:${parseInt(port, 16)}`))
}

/** Beginnings of no message: another protocol, and a message of two gigabytes. */
const beginnings = ["GET / HTTP/1.1\r\n\r\n", "\x7f\xff\xff\xff", "\x5a\x7f\xff\xff\xff", "\x80\x80\x80\x80\x07"]
const junkMegabytes = 100

/** Sends a beginning and much junk after it; completes when all of it is written, or the connection is closed. */
const sendJunk = (port: number, beginning: string) =>
  Effect.callback<void>((resume) => {
    const socket = connect(port, "127.0.0.1")
    const end = () => resume(Effect.void)
    socket.on("error", end).on("close", end)
    socket.write(Buffer.from(beginning, "latin1"))
    for (let left = junkMegabytes; left > 1; left--) socket.write(Buffer.alloc(1_048_576, 0xff))
    socket.write(Buffer.alloc(1_048_576, 0xff), end)
    return Effect.sync(() => socket.destroy())
  })
/** Returns the resident memory of a process, in megabytes. */
const residentMegabytes = (pid: number) =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1_024

layer(TestDatabase.layer.pipe(Layer.provideMerge(Layer.merge(NodeServices.layer, NodeCrypto.layer))), {
  excludeTestServices: true
})("row 84: the port between nodes", (it) => {
  it.effect(
    "is open at CLUSTER_HOST and nowhere else, nothing else is open, and junk that it gets is not kept",
    () =>
      Effect.scoped(Effect.gen(function*() {
        const { baseUrl, child, variables } = yield* startNode((yield* TestDatabase).url, yield* redisUrl, {
          CLUSTER_HOST: "127.0.0.1"
        })
        const { CLUSTER_PORT, PORT } = variables
        const ports = [`${loopback}:${PORT}`, `${loopback}:${CLUSTER_PORT}`]
        assert.sameMembers([...listening(child.pid!)], ports)
        const before = residentMegabytes(child.pid!)
        yield* Effect.forEach(beginnings, (one) => sendJunk(Number(CLUSTER_PORT), one), { discard: true })
        assert.isBelow(residentMegabytes(child.pid!) - before, beginnings.length * junkMegabytes / 2)
        assert.strictEqual((yield* Effect.promise(() => fetch(`${baseUrl}/health`))).status, 200)
        assert.sameMembers([...listening(child.pid!)], ports)
      }))
  )

  it.effect("does not exist without a cluster", () =>
    Effect.scoped(Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const port = String(yield* freePort)
      const program = yield* Program.start("main", [], {
        HOST: "127.0.0.1",
        PORT: port,
        DATABASE_URL: (yield* TestDatabase).url,
        DATA_DIR: yield* fs.makeTempDirectoryScoped({ prefix: "murmuration-ports-" }),
        LOG_LEVEL: "error"
      })
      yield* Program.printed(program, "Murmuration is at")
      assert.deepStrictEqual(listening(program.child.pid!), [`${loopback}:${port}`])
    })))

  it.effect("a public address for it stops the start, with a message", () =>
    Effect.scoped(Effect.gen(function*() {
      const { ended } = yield* Program.start("main", [], {
        DATABASE_URL: (yield* TestDatabase).url,
        REDIS_URL: "redis://127.0.0.1",
        CLUSTER_HOST: "0.0.0.0"
      })
      const { code, err, out } = yield* ended
      assert.notStrictEqual(code, 0)
      assert.include(out + err, "CLUSTER_HOST: 0.0.0.0 is a public address")
    })))
})
