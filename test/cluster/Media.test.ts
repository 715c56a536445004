import { NodeServices } from "@effect/platform-node"
import { assert, layer } from "@effect/vitest"
import { Effect, Fiber, FileSystem, Layer, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import { readdirSync, readFileSync } from "node:fs"
import { ffmpegFile } from "../support/Ffmpeg.ts"
import { allowedMillis } from "../support/MachineSpeed.ts"
import { picture } from "../support/MediaFiles.ts"
import { redisUrl } from "../support/RedisServer.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { type Account, makeAccounts, type Node, request, startNode } from "./Nodes.ts"

/** Maximum time until another node takes over the job of a killed node, in milliseconds. */
const failoverMillisMax = 20_000

/** A video that takes some seconds to convert. */
const video = ffmpegFile(
  "a.mp4",
  "-f lavfi -i testsrc2=duration=6:size=1280x720:rate=30 -c:v libx264 -preset ultrafast".split(" ")
)

const upload = (node: Node, { token }: Account, bytes: Uint8Array) =>
  Effect.promise(async () => {
    const body = new FormData()
    body.set("file", new Blob([new Uint8Array(bytes)]), "file")
    const headers = { authorization: `Bearer ${token}` }
    const response = await fetch(`${node.baseUrl}/api/v2/media`, { method: "POST", headers, body })
    const { id } = await response.json() as { id: string }
    return { status: response.status, id }
  })

/** Returns the id of the ffmpeg process that a process has started. */
const ffmpegOf = (parent: number): number | undefined => {
  for (const name of readdirSync("/proc").filter((entry) => /^\d+$/.test(entry))) {
    try {
      const [, program, ppid] = /^\d+ \((.*)\) \S (\d+)/.exec(readFileSync(`/proc/${name}/stat`, "utf8")) ?? []
      if (program === "ffmpeg" && Number(ppid) === parent) return Number(name)
    } catch {
      // The process has ended in the meantime.
    }
  }
}

const isRunning = (pid: number) => readdirSync("/proc").includes(String(pid))

const polling = Schedule.spaced("100 millis")
const until = <A, E>(ask: Effect.Effect<A, E>, is: (found: A) => boolean) =>
  Effect.repeat(ask, { until: is, schedule: polling })

layer(Layer.merge(TestDatabase.layer, NodeServices.layer), { excludeTestServices: true })(
  "media jobs in a cluster",
  (it) => {
    it.effect(
      "CLUSTER_SHARD_GROUPS: media nodes only do media, other nodes do none; a job survives kill -9 of its node (I15)",
      () =>
        Effect.gen(function*() {
          const sql = yield* SqlClient.SqlClient
          const { url } = yield* TestDatabase
          const redis = yield* redisUrl
          const shared = yield* (yield* FileSystem.FileSystem).makeTempDirectoryScoped({
            prefix: "murmuration-shared-"
          })
          const start = (groups: string) =>
            startNode(url, redis, { DATA_DIR: shared, CLUSTER_SHARD_GROUPS: groups, MEDIA_CONCURRENCY: "1" })
          const [front, ...backs] = yield* Effect.all([start("default"), start("media"), start("media")], {
            concurrency: 3
          })
          const [ada] = yield* makeAccounts(front.variables, ["ada"])
          if (ada === undefined) return assert.fail("no account was created")

          const bytes = yield* video
          const uploading = yield* Effect.forkChild(upload(front, ada, bytes))
          const running = Effect.sync(() => backs.find(({ child }) => ffmpegOf(child.pid ?? 0) !== undefined))
          const converting = yield* until(running, (node) => node !== undefined)
          const tool = ffmpegOf(converting?.child.pid ?? 0) ?? 0
          converting?.child.kill("SIGKILL")
          const killedAt = performance.now()
          // Not finished even on a fast machine.
          const { id, status } = yield* Fiber.join(uploading)
          assert.strictEqual(status, 202)
          const path = `/api/v1/media/${id}`
          assert.strictEqual((yield* request(front, ada, path)).status, 206)
          // The kernel ends ffmpeg with its node.
          yield* until(Effect.sync(() => isRunning(tool)), (there) => !there)
          const other = backs.find((node) => node !== converting)
          yield* until(Effect.sync(() => ffmpegOf(other?.child.pid ?? 0)), (pid) => pid !== undefined)
          const failover = performance.now() - killedAt
          assert.isBelow(failover, allowedMillis(failoverMillisMax))
          yield* until(request(front, ada, path), (reply) => reply.status !== 206)
          const ready = yield* request(front, ada, path)
          assert.strictEqual(ready.status, 200)
          assert.deepInclude(ready.body, { type: "gifv" })
          const [row] = yield* sql<
            { attempts: number }
          >`SELECT attempts FROM media_attachments WHERE id = ${id}::bigint`
          assert.strictEqual(row?.attempts, 2)
          const posted = yield* request(front, ada, "/api/v1/statuses", { method: "POST", form: { "media_ids[]": id } })
          assert.strictEqual(posted.status, 200)

          // Without media nodes, files wait, and all other work continues.
          other?.child.kill("SIGTERM")
          if (other !== undefined) yield* other.ended
          const waiting = yield* upload(front, ada, yield* Effect.promise(() => picture().png().toBuffer()))
          assert.strictEqual(waiting.status, 202)
          assert.include([200, 206], (yield* request(front, ada, "/api/v1/timelines/home")).status)
          assert.strictEqual((yield* request(front, ada, `/api/v1/media/${waiting.id}`)).status, 206)
          const back = yield* start("media")
          yield* until(request(front, ada, `/api/v1/media/${waiting.id}`), (reply) => reply.status === 200)

          // Without account nodes posting is impossible, but files still become ready.
          front.child.kill("SIGTERM")
          yield* front.ended
          const refused = yield* request(back, ada, "/api/v1/statuses", { method: "POST", form: { status: "hello" } })
          assert.strictEqual(refused.status, 503)
          const alone = yield* upload(back, ada, yield* Effect.promise(() => picture().webp().toBuffer()))
          assert.strictEqual(alone.status, 200)
          console.log(`kill -9 in the middle of a conversion; restarted ${(failover / 1000).toFixed(1)} s later`)
        })
    )
  }
)
