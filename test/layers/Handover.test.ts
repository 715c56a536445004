import { NodeServices } from "@effect/platform-node"
import { PgClient } from "@effect/sql-pg"
import { assert, layer } from "@effect/vitest"
import { Context, Effect, FileSystem, Layer, Option, Redacted } from "effect"
import type { ChildProcess } from "node:child_process"
import { Agent, request } from "node:http"
import * as Postmaster from "../../src/layers/embedded/Postmaster.ts"
import { notify } from "../../src/layers/PostgresChannel.ts"
import { eventually } from "../support/Eventually.ts"
import { freePort } from "../support/ports.ts"
import { runs } from "../support/Processes.ts"
import { cli, printed, start } from "../support/Program.ts"

/** Interval between requests from outside: 50 per second. */
const paceMillis = 20

interface Reply {
  readonly status: number
  readonly text: string
}

const requestAt = (port: number, path: string, agent: Agent | false, token?: string, body?: string) =>
  new Promise<Reply>((resolve, reject) => {
    const sent = request({
      host: "127.0.0.1",
      port,
      path,
      agent,
      method: body === undefined ? "GET" : "POST",
      headers: {
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        ...(body !== undefined && { "content-type": "application/json", "content-length": Buffer.byteLength(body) })
      }
    }, (response) => {
      let text = ""
      response.setEncoding("utf8").on("data", (data: string) => text += data)
      response.once("end", () => resolve({ status: response.statusCode ?? 0, text }))
      response.once("error", reject)
    })
    sent.once("error", reject)
    sent.end(body)
  })

/**
 * Alternates reads and posts, on new and on persistent connections, until it is stopped; returns requests without 200,
 * and the posts.
 */
const traffic = (port: number, token: string) => {
  const keptAlive = new Agent({ keepAlive: true, maxSockets: 4 })
  const failed: Array<string> = []
  const posted: Array<string> = []
  const running: Array<Promise<void>> = []
  let slowestMillis = 0
  const one = async (n: number) => {
    const began = performance.now()
    try {
      const agent = n % 2 === 0 ? keptAlive : false
      const body = n % 5 === 0 ? JSON.stringify({ status: `post ${n}` }) : undefined
      const { status, text } = await requestAt(
        port,
        body === undefined ? "/api/v2/instance" : "/api/v1/statuses",
        agent,
        token,
        body
      )
      if (status !== 200) failed.push(`${n}: ${status} ${text}`)
      else if (body !== undefined) posted.push(JSON.parse(text).id)
    } catch (error) {
      failed.push(`${n}: ${String(error)}`)
    }
    slowestMillis = Math.max(slowestMillis, performance.now() - began)
  }
  let n = 0
  const timer = setInterval(() => running.push(one(n++)), paceMillis)
  const stop = async () => {
    clearInterval(timer)
    await Promise.all(running)
    keptAlive.destroy()
    return { asked: n, failed, posted, slowestMillis }
  }
  return { stop }
}

const exited = (child: ChildProcess) =>
  Effect.callback<number | null>((resume) => {
    if (child.exitCode !== null) return resume(Effect.succeed(child.exitCode))
    child.once("exit", (code) => resume(Effect.succeed(code)))
  })

/** A running server with an embedded Postgres, and a user's token. */
const running = Effect.gen(function*() {
  const fs = yield* FileSystem.FileSystem
  const folder = yield* fs.makeTempDirectoryScoped({ prefix: "murmuration-handover-" })
  yield* fs.chmod(folder, 0o755)
  const port = yield* freePort
  // Replaces systemd's program: writes each message as a line.
  const notified = `${folder}/notified`
  yield* fs.makeDirectory(`${folder}/bin`)
  yield* fs.writeFileString(`${folder}/bin/systemd-notify`, `#!/bin/sh\necho "$@" >> ${notified}\n`, { mode: 0o755 })
  const variables = {
    PORT: String(port),
    DATA_DIR: folder,
    RATE_LIMITS: "off",
    NOTIFY_SOCKET: "/run/systemd/notify",
    WATCHDOG_USEC: "1000000",
    PATH: `${folder}/bin:${process.env["PATH"]}`
  }
  const server = yield* start("main", [], variables)
  yield* printed(server, "Murmuration is at")
  const postgres = Option.getOrThrow(yield* Postmaster.find(`${folder}/postgres`))
  yield* cli(["account", "create", "ada", "--email", "ada@example.org", "--confirmed"], variables)
  const { out } = yield* cli(["token", "create", "ada", "--scopes", "read write"], variables)
  return { folder, notified, port, variables, server, postgres, token: /[\w-]{40,}/.exec(out)?.[0] ?? "" }
})

class Running extends Context.Service<Running, Effect.Success<typeof running>>()("murmuration/test/Handover/Running") {
  static readonly layer = Layer.effect(Running, running).pipe(Layer.provideMerge(NodeServices.layer))
}

// One server for both tests; the second one ends it.
layer(Running.layer, { excludeTestServices: true })("npm run cli -- restart", (it) => {
  it.effect(
    "F45: a process that fails to start is reported, and the running one continues",
    () =>
      Effect.gen(function*() {
        const fs = yield* FileSystem.FileSystem
        const { folder, port, postgres, server } = yield* Running
        const secret = `${folder}/secrets/postgres_password`
        const password = Redacted.make((yield* fs.readFileString(secret)).trim())
        // Without the secret a starting process cannot open the data.
        yield* fs.rename(secret, `${folder}/secrets/elsewhere`)
        const sql = PgClient.layer({ ...postgres.endpoint, username: "murmuration", password, database: "postgres" })
        yield* Effect.provide(notify({ _tag: "Restart" }), sql)
        yield* printed(server, "The new process did not start; this one continues")
        yield* fs.rename(`${folder}/secrets/elsewhere`, secret)
        assert.strictEqual((yield* Effect.promise(() => requestAt(port, "/health", false))).status, 200)
      })
  )

  it.effect(
    "F45: under traffic no request is refused, and the database keeps running",
    () =>
      Effect.scoped(Effect.gen(function*() {
        const { port, postgres, server, token, variables } = yield* Running
        const outside = yield* Effect.acquireRelease(
          Effect.sync(() => traffic(port, token)),
          ({ stop }) => Effect.promise(stop)
        )
        yield* cli(["restart"], variables)
        yield* printed(server, "takes over")
        const successor = Number(/Process (\d+) takes over/.exec(server.out())?.[1])
        yield* Effect.addFinalizer(() => Effect.ignore(Effect.try(() => process.kill(successor, "SIGTERM"))))
        const code = yield* exited(server.child)
        yield* printed(
          { child: server.child, out: () => server.out().split("takes over")[1] ?? "" },
          "Murmuration is at"
        )
        const { asked, failed, posted, slowestMillis } = yield* Effect.promise(outside.stop)
        console.log(`${asked} requests, the slowest ${slowestMillis.toFixed(0)} ms`)
        assert.deepStrictEqual(failed, [])
        assert.strictEqual(code, 0)
        assert.isAbove(posted.length, 1)
        const responses = yield* Effect.forEach(
          posted,
          (id) => Effect.promise(() => requestAt(port, `/api/v1/statuses/${id}`, false))
        )
        assert.deepStrictEqual(responses.filter(({ status }) => status !== 200), [])

        assert.isTrue(runs(postgres.pid))
        process.kill(successor, "SIGTERM")
        // The successor shares the first process's output, and stays a zombie until it is waited for.
        yield* server.ended
        for (const pid of [successor, postgres.pid]) yield* eventually(Effect.sync(() => runs(pid)), (there) => !there)
      }))
  )

  it.effect("F268: systemd is notified that the server is ready, which process succeeds it, and that it stops", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const { notified, server } = yield* Running
      const successor = /Process (\d+) takes over/.exec(server.out())?.[1]
      const messages = (yield* fs.readFileString(notified)).trim().split("\n")
      assert.deepStrictEqual(messages.filter((message) => message !== "WATCHDOG=1"), [
        `READY=1 MAINPID=${server.child.pid}`,
        `MAINPID=${successor}`,
        `READY=1 MAINPID=${successor}`,
        "STOPPING=1"
      ])
      assert.include(messages, "WATCHDOG=1")
    }))
})
