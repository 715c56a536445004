import { NodeServices } from "@effect/platform-node"
import { Effect, FileSystem, Layer, Redacted, Schedule } from "effect"
import { spawn } from "node:child_process"
import { connect } from "node:net"
import { tmpdir } from "node:os"
import { Redis } from "../../src/layers/Redis.ts"
import { freePort } from "./ports.ts"
import * as Programs from "./programs/Programs.ts"

const responses = (port: number) =>
  Effect.callback<boolean>((resume) => {
    const socket = connect(port, "127.0.0.1")
    const end = (yes: boolean) => {
      socket.destroy()
      resume(Effect.succeed(yes))
    }
    socket.once("connect", () => end(true)).once("error", () => end(false))
  })

/** Starts an empty Redis at this port of 127.0.0.1 that ends with the scope; `pid` lets a test pause and resume it. */
export const startRedisAt = Effect.fnUntraced(function*(port: number) {
  const fs = yield* FileSystem.FileSystem
  const dir = yield* fs.makeTempDirectoryScoped({ directory: tmpdir(), prefix: "murmuration-redis-" })
  const command = Programs.path("redis")
  const args = ["--port", String(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", dir]
  const child = yield* Effect.acquireRelease(
    Effect.sync(() => spawn(command, args, { stdio: "ignore" })),
    (child) =>
      Effect.callback<void>((resume) => {
        if (child.exitCode !== null) return resume(Effect.void)
        child.once("exit", () => resume(Effect.void))
        child.kill("SIGKILL")
      })
  )
  yield* Effect.repeat(responses(port), { until: (yes) => yes, schedule: Schedule.spaced("20 millis") })
  return { url: `redis://127.0.0.1:${port}`, port, pid: child.pid! }
}, Effect.provide(NodeServices.layer))

/** Starts a Redis at a free port. */
export const startRedis = Effect.flatMap(freePort, startRedisAt)

/** The address of the tests' Redis: `REDIS_URL` if set, otherwise one started for the scope. */
export const redisUrl = Effect.suspend(() => {
  const given = process.env["REDIS_URL"]
  return given === undefined || given === "" ? Effect.map(startRedis, ({ url }) => url) : Effect.succeed(given)
})

/** The server's client of the tests' Redis. */
export const TestRedis = Layer.unwrap(Effect.map(redisUrl, (url) => Redis.layer(Redacted.make(url))))
