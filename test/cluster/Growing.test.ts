import { NodeServices } from "@effect/platform-node"
import { assert, layer } from "@effect/vitest"
import { Effect, FileSystem } from "effect"
import WebSocket from "ws"
import { cli } from "../support/CommandLine.ts"
import { eventually } from "../support/Eventually.ts"
import { freePort } from "../support/ports.ts"
import * as Program from "../support/Program.ts"
import { redisUrl } from "../support/RedisServer.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { idOf } from "./Load.ts"
import { request, startNode } from "./Nodes.ts"

/** Keeps the ids of the posts that come by the user's stream of a node. */
const streamOf = (baseUrl: string, token: string) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const socket = new WebSocket(`${baseUrl.replace("http", "ws")}/api/v1/streaming?stream=user`, token)
      const ids: Array<string> = []
      socket.on("message", (data) => {
        const { event, payload } = JSON.parse(String(data))
        if (event === "update") ids.push(JSON.parse(payload).id)
      })
      await new Promise((resolve, reject) => socket.once("open", resolve).once("error", reject))
      return { socket, ids }
    }),
    ({ socket }) => Effect.sync(() => socket.terminate())
  )

layer(TestDatabase.layerEmpty, { excludeTestServices: true })("docs/guide/growing.md", (it) => {
  it.effect(
    "leads from one folder to three nodes and back: posts stay, stream over nodes, and outlive a stopped node",
    () =>
      Effect.gen(function*() {
        const fs = yield* FileSystem.FileSystem
        const { url } = yield* TestDatabase
        const redis = yield* redisUrl
        const dataDir = yield* fs.makeTempDirectoryScoped({ prefix: "murmuration-growing-" })
        const domain = { PUBLIC_URL: "http://cluster.test" }
        const one = { ...domain, DATA_DIR: dataDir, PORT: String(yield* freePort), RATE_LIMITS: "off" }
        const operate = (args: ReadonlyArray<string>, variables: Record<string, string>) =>
          Effect.map(cli(args, { ...domain, ...variables }), ({ code, err, out }) => {
            assert.strictEqual(code, 0, `${args.join(" ")}\n${out}${err}`)
            return out.trim()
          })
        /** Runs a single process until the effect ends. */
        const single = <A, E, R>(variables: Record<string, string>, use: Effect.Effect<A, E, R>) =>
          Effect.scoped(Effect.gen(function*() {
            const program = yield* Program.start("main", [], variables)
            yield* Program.printed(program, "Murmuration is at")
            return yield* use
          }))
        const at = (baseUrl: string, token: string) => ({
          post: (status: string) =>
            Effect.map(
              request({ baseUrl }, { token }, "/api/v1/statuses", { method: "POST", form: { status }, key: status }),
              ({ body }) => idOf(body)
            ),
          home: Effect.map(request({ baseUrl }, { token }, "/api/v1/timelines/home?limit=40"), ({ body }) =>
            Array.isArray(body) ? body.map(idOf) : [])
        })

        const { posts, token } = yield* single(
          one,
          Effect.gen(function*() {
            yield* operate(["account", "create", "ada", "--email", "ada@example.org", "--confirmed"], one)
            const token = yield* operate(["token", "create", "ada", "--scopes", "read write"], one)
            return { token, posts: [yield* at(`http://127.0.0.1:${one.PORT}`, token).post("From one folder")] }
          })
        )
        yield* operate(["transfer", "postgres"], { DATA_DIR: dataDir, DATABASE_URL: url })

        yield* Effect.scoped(Effect.gen(function*() {
          // Files are in a folder that the nodes share.
          const start = startNode(url, redis, { DATA_DIR: dataDir })
          const a = yield* start
          const [b, c] = yield* Effect.all([start, start], { concurrency: 2 })
          const stream = yield* streamOf(c.baseUrl, token)
          posts.push(yield* at(a.baseUrl, token).post("From the first node"))
          yield* eventually(
            Effect.sync(() =>
              stream.ids
            ),
            (ids) => ids.includes(posts[1]!)
          )
          for (let n = 0; n < 10; n++) posts.push(yield* at([a, b, c][n % 3]!.baseUrl, token).post(`Before ${n}`))
          b.child.kill("SIGTERM")
          for (let n = 0; n < 10; n++) {
            const post = at([a, c][n % 2]!.baseUrl, token).post(`While a node stops ${n}`)
            posts.push(yield* eventually(post, (id) => id !== ""))
          }
          yield* eventually(Effect.sync(() => stream.ids), (ids) => ids.length === posts.length - 1)
          for (const { baseUrl } of [a, c]) {
            assert.deepStrictEqual(yield* at(baseUrl, token).home, posts.toReversed())
          }
        }))

        yield* single(
          { ...one, DATABASE_URL: url },
          Effect.gen(function*() {
            const { home } = at(`http://127.0.0.1:${one.PORT}`, token)
            yield* eventually(home, (ids) => ids.length === posts.length)
            assert.deepStrictEqual(yield* home, posts.toReversed())
          })
        )
      }).pipe(Effect.provide(NodeServices.layer))
  )
})
