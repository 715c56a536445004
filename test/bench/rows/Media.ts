import { mkdtempSync, readFileSync, writeFileSync } from "node:fs"
import { rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import sharp from "sharp"
import type { RunningServer } from "../BenchServer.ts"
import * as Child from "../Child.ts"
import { between, megabytes, spent, total } from "../Cpu.ts"
import type { Order } from "../load/Sharp.ts"
import { readerNumbers, token } from "../People.ts"
import { type Bench, type Measured, median, percentile, type Row } from "../Row.ts"

const script = fileURLToPath(new URL("../load/Sharp.ts", import.meta.url))

/**
 * A 12-megapixel photo, and the sizes of its renditions (ContentLimits: 8,294,400 and 230,400 pixels in the same
 * shape).
 */
const [photoWidth, photoHeight] = [4000, 3000]
const large = [3326, 2494] as const
const small = [554, 416] as const
/** Minimum share of sharp's own throughput on the same processor. */
const partMin = 0.85

const uploadBytes = 10_485_760
const uploadsAtOnce = 8
/** Maximum memory growth, in megabytes; less than the total size of the concurrent uploads. */
const uploadGrowthMax = 48

const uploadsCount = 100
const uploadsGrowthMax = 200

/** Makes a picture with the noise of a camera. */
const photo = (width: number, height: number) =>
  sharp({
    create: { width, height, channels: 3, noise: { type: "gaussian", mean: 128, sigma: 40 }, background: "#000" }
  }).blur(1.2).jpeg({ quality: 90 }).toBuffer()

const upload = async ({ port }: RunningServer, bytes: Uint8Array<ArrayBuffer>, number: number) => {
  const body = new FormData()
  body.set("file", new Blob([bytes]), "file")
  const headers = { authorization: `Bearer ${token(number)}` }
  const response = await fetch(`http://127.0.0.1:${port}/api/v1/media`, { method: "POST", headers, body })
  await response.arrayBuffer()
  return response.status
}

/** Returns the growth of a process's peak memory while `work` runs, in megabytes. */
const growthDuring = async (pid: number, work: () => Promise<unknown>) => {
  const before = megabytes(pid)
  writeFileSync(`/proc/${pid}/clear_refs`, "5")
  await work()
  const peak = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]
  return Number(peak) / 1024 - before
}

const expect = (status: number, wanted: number) => {
  if (status !== wanted) throw new Error(`The response to an upload is ${status}`)
}

/** Processing of the same file by the server and by sharp alone, in turns. */
const processing: Row = {
  name: "12-megapixel JPEG to two renditions and a blurhash",
  measure: async ({ options, server }: Bench): Promise<ReadonlyArray<Measured>> => {
    const folder = mkdtempSync(join(tmpdir(), "murmuration-bench-"))
    const alone = Child.start<Order>([script])
    try {
      const file = join(folder, "photo.jpg")
      const bytes = new Uint8Array(await photo(photoWidth, photoHeight))
      writeFileSync(file, bytes)
      const runs = options.quick ? 4 : 12
      const byServer = async (count: number) => {
        for (let n = 0; n < count; n++) expect(await upload(server, bytes, readerNumbers[0]!), 200)
      }
      const bySharp = (count: number) => alone.ask({ file, folder, large, small, runs: count })
      await Promise.all([byServer(2), bySharp(2)])
      const rounds = []
      for (let round = 0; round < options.runs; round++) {
        const watchedAlone = { node: alone.pid, postgres: 0 }
        const [before, beforeAlone] = [spent(server.watched), spent(watchedAlone)]
        await byServer(runs)
        const millis = between(before, spent(server.watched), runs)
        await bySharp(runs)
        const bound = total(between(beforeAlone, spent(watchedAlone), runs))
        rounds.push({ millis, bound, part: bound / total(millis) })
      }
      const part = median(rounds.map((round) => round.part))
      const { bound, millis } = rounds.find((round) => round.part === part)!
      return [{
        name: processing.name,
        perSecond: 1000 / total(millis),
        millis,
        figures: { "sharp alone, CPU ms": bound, "share of sharp's throughput": part },
        target: { text: `${partMin} of sharp alone`, met: part >= partMin }
      }]
    } finally {
      alone.process.kill("SIGKILL")
      await alone.ended
      await rm(folder, { recursive: true })
    }
  }
}

/** Uploads of files that no tool processes, so that only receiving and storing is measured. */
const received: Row = {
  name: "upload of 10 MB",
  measure: async ({ options, server }: Bench): Promise<ReadonlyArray<Measured>> => {
    const bytes = new Uint8Array(uploadBytes)
    const rounds = options.quick ? 3 : 10
    const many = async (count: number) => {
      for (let round = 0; round < count; round++) {
        const statuses = await Promise.all(
          Array.from({ length: uploadsAtOnce }, () => upload(server, bytes, readerNumbers[0]!))
        )
        statuses.forEach((status) => expect(status, 422))
      }
    }
    await many(2)
    const before = spent(server.watched)
    const began = performance.now()
    const growth = await growthDuring(server.watched.node, () => many(rounds))
    const count = rounds * uploadsAtOnce
    return [{
      name: received.name,
      perSecond: count * 1000 / (performance.now() - began),
      millis: between(before, spent(server.watched), count),
      figures: { [`peak memory growth in MB, ${uploadsAtOnce} at once`]: growth },
      target: { text: `< ${uploadGrowthMax} MB`, met: growth < uploadGrowthMax }
    }]
  }
}

/** Concurrent uploads of many users, and the latency of a reader in the meantime. */
const concurrent: Row = {
  name: "100 concurrent uploads",
  measure: async ({ server }: Bench): Promise<ReadonlyArray<Measured>> => {
    const bytes = new Uint8Array(await photo(1200, 900))
    expect(await upload(server, bytes, readerNumbers[0]!), 200)
    const over = new AbortController()
    const waits: Array<number> = []
    const measureOtherRequests = async () => {
      while (!over.signal.aborted) {
        const began = performance.now()
        await (await fetch(`http://127.0.0.1:${server.port}/api/v2/instance`)).arrayBuffer()
        waits.push(performance.now() - began)
      }
    }
    const before = spent(server.watched)
    const began = performance.now()
    const uploadAll = async () => {
      const statuses = await Promise.all(
        Array.from({ length: uploadsCount }, (_, n) => upload(server, bytes, readerNumbers[n % readerNumbers.length]!))
      )
      over.abort()
      statuses.forEach((status) => expect(status, 200))
    }
    const growth = await growthDuring(server.watched.node, () => Promise.all([uploadAll(), measureOtherRequests()]))
    return [{
      name: concurrent.name,
      perSecond: uploadsCount * 1000 / (performance.now() - began),
      millis: between(before, spent(server.watched), uploadsCount),
      figures: { "peak memory growth in MB": growth, "p99 ms of other requests": percentile(waits, 0.99) },
      target: { text: `all succeed, < ${uploadsGrowthMax} MB`, met: growth < uploadsGrowthMax }
    }]
  }
}

export const rows: ReadonlyArray<Row> = [processing, received, concurrent]
