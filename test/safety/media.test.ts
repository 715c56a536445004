import { NodeServices } from "@effect/platform-node"
import { assert, layer } from "@effect/vitest"
import { Effect, FileSystem, Layer } from "effect"
import { readFileSync, writeFileSync } from "node:fs"
import { makeAccounts } from "../cluster/Nodes.ts"
import * as Hostile from "../support/HostileFiles.ts"
import { allowedMillis } from "../support/MachineSpeed.ts"
import { picture } from "../support/MediaFiles.ts"
import { freePort } from "../support/ports.ts"
import * as Program from "../support/Program.ts"
import { TestDatabase } from "../support/TestDatabase.ts"

/** Concurrent jobs, and the maximum memory growth of all of them over the idle server, in megabytes. */
const jobsAtOnce = 2
const growthMegabytesMax = 450
/** Maximum time of other requests in the meantime, in milliseconds, on two busy cores. */
const responseMillisMax = 1_500

const megabytes = (pid: number, what: "VmHWM" | "VmRSS") =>
  Number(new RegExp(`^${what}:\\s+(\\d+) kB$`, "m").exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1024

/** Starts a server as operators do. */
const started = Effect.gen(function*() {
  const { url } = yield* TestDatabase
  const fs = yield* FileSystem.FileSystem
  const port = yield* freePort
  const variables = {
    HOST: "127.0.0.1",
    PORT: String(port),
    DATABASE_URL: url,
    DATA_DIR: yield* fs.makeTempDirectoryScoped({ prefix: "murmuration-hostile-" }),
    MEDIA_CONCURRENCY: String(jobsAtOnce),
    RATE_LIMITS: "off",
    LOG_LEVEL: "error",
    MALLOC_ARENA_MAX: "2"
  }
  const program = yield* Program.start("main", [], variables)
  yield* Program.printed(program, "Murmuration is at")
  const [account] = yield* makeAccounts(variables, ["ada"])
  const baseUrl = `http://127.0.0.1:${port}`
  const upload = (bytes: Uint8Array) =>
    Effect.promise(async () => {
      const body = new FormData()
      body.set("file", new Blob([new Uint8Array(bytes)]), "file")
      const headers = { authorization: `Bearer ${account?.token}` }
      const response = await fetch(`${baseUrl}/api/v1/media`, { method: "POST", headers, body })
      return { status: response.status, body: await response.text() }
    })
  return { pid: program.child.pid ?? 0, baseUrl, upload }
})

/** Files: the largest allowed pictures, which a decoder must hold whole, and everything that is refused. */
const corpus = Effect.promise(async () => {
  const photo = await picture(4000, 3000).jpeg().toBuffer()
  const allowed = [
    await Hostile.interlacedPng(7680, 4320),
    await Hostile.progressiveJpeg(7680, 4320),
    Hostile.gifOf(1_000, 600),
    Hostile.apngOf(10_000),
    photo
  ]
  const refused = [
    Hostile.pngOf(16_000, 16_000),
    Hostile.pngOf(100_000_000, 1),
    Hostile.pngThatSays(30_000, 30_000),
    Hostile.gifOf(10_000),
    await Hostile.webpOf(10_000),
    await Hostile.avifThatSays(30_000, 30_000),
    photo.subarray(0, photo.length / 2),
    ...Object.values(Hostile.textsOf("http://127.0.0.1:9/")).map((text) => Buffer.from(text)),
    ...Object.values(Hostile.disguised("#EXTM3U\n/etc/passwd"))
  ]
  return { allowed, refused }
})

layer(Layer.merge(TestDatabase.layer, NodeServices.layer), { excludeTestServices: true })("rows 45, 48", (it) => {
  it.effect(
    "row 45, row 48: the server responds to others while it processes bombs, and its memory stays flat",
    () =>
      Effect.gen(function*() {
        const { allowed, refused } = yield* corpus
        const { baseUrl, pid, upload } = yield* started
        assert.strictEqual((yield* upload(yield* Effect.promise(() => picture().png().toBuffer()))).status, 200)
        const before = megabytes(pid, "VmRSS")
        // Resets the peak memory.
        writeFileSync(`/proc/${pid}/clear_refs`, "5")
        const over = new AbortController()
        const waits: Array<number> = []
        const others = Effect.promise(async () => {
          while (!over.signal.aborted) {
            const began = performance.now()
            const response = await fetch(`${baseUrl}/api/v2/instance`)
            assert.strictEqual(response.status, 200)
            await response.arrayBuffer()
            waits.push(performance.now() - began)
          }
        })
        const feeding = Effect.gen(function*() {
          const responses = yield* Effect.forEach([...allowed, ...refused], upload, { concurrency: 8 })
          over.abort()
          return responses
        })
        const [responses] = yield* Effect.all([feeding, others], { concurrency: "unbounded" })
        assert.deepStrictEqual(responses.slice(0, allowed.length).map(({ status }) => status), allowed.map(() => 200))
        assert.deepStrictEqual(responses.slice(allowed.length).map(({ status }) => status), refused.map(() => 422))
        const growth = megabytes(pid, "VmHWM") - before
        const slowest = Math.max(...waits)
        console.log(
          `${responses.length} hostile files: ${growth.toFixed(0)} MB more at the peak than the ${
            before.toFixed(0)
          } MB at ` +
            `rest; ${waits.length} other requests meanwhile, the slowest ${slowest.toFixed(0)} ms`
        )
        assert.isBelow(growth, growthMegabytesMax)
        assert.isBelow(slowest, allowedMillis(responseMillisMax))
      })
  )
})
