import { mkdirSync, writeFileSync } from "node:fs"
import { cpus } from "node:os"
import { join } from "node:path"
import * as BenchServer from "./BenchServer.ts"
import * as Options from "./Options.ts"
import { type People, seed, type Size } from "./People.ts"
import type { Bench, Measured, Row } from "./Row.ts"
import { median } from "./Row.ts"
import * as Sessions from "./Sessions.ts"
import { table } from "./Table.ts"

const options = readOptions()
const followersMax: Size = options.quick ? 10_000 : 100_000
const startTarget = 5_000

function readOptions() {
  try {
    return Options.read(process.argv.slice(2))
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : String(error)}\n\n${Options.usage}`)
    process.exit(1)
  }
}

const measured: Array<Measured> = []
const add = (found: ReadonlyArray<Measured>, suffix = "") => {
  for (const row of found) {
    measured.push({ ...row, name: row.name + suffix })
    console.error(table([{ ...row, name: row.name + suffix }]).split("\n").slice(1).join("\n"))
  }
}

const profiled = async (bench: Bench, row: Row, suffix: string) => {
  const { child } = bench.server
  if (options.profile === undefined) return row.measure(bench)
  mkdirSync(options.profile, { recursive: true })
  await child.ask({ kind: "profile" })
  const found = await row.measure(bench)
  const file = join(options.profile, `${(row.name + suffix).replaceAll(/[^a-z0-9]+/gi, "-")}.cpuprofile`)
  await child.ask({ kind: "profiled", file })
  return found
}

let running: BenchServer.RunningServer | undefined
const measureAll = async (
  server: BenchServer.RunningServer | undefined,
  people: People,
  rows: ReadonlyArray<Row>,
  suffix: string
) => {
  running = server
  if (server === undefined) return console.error("There is no redis-server, so the rows of a cluster are left out.")
  for (const row of rows) add(await profiled({ server, people, options }, row, suffix), suffix)
  await server.stop()
  running = undefined
}

const data = await BenchServer.makeDataDir()
const end = async () => {
  Sessions.end()
  await running?.stop()
  await data.remove()
}
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => void end().then(() => process.exit(1)))

const began = performance.now()
try {
  const first = running = await BenchServer.single(data.folder)
  const people = await seed(first.query, followersMax)
  await first.stop()
  console.error(
    `${people.accounts} accounts, ${people.statusIds.length} statuses; RATE_LIMITS=off unless a row says so`
  )

  if ("start to first 200".includes(options.only ?? "")) {
    const starts: Array<number> = []
    for (let run = 0; run < options.runs; run++) {
      const again = running = await BenchServer.single(data.folder)
      starts.push(again.startMillis)
      await again.stop()
    }
    const millis = median(starts)
    add([{
      name: "start to first 200",
      figures: { "ms": millis, "the first, which creates the database, ms": first.startMillis },
      target: { text: "< 5 s", met: millis < startTarget }
    }])
  }
  for (const { rows, start, suffix } of Sessions.wanted(followersMax, [options.only ?? ""])) {
    await measureAll(await start(data.folder), people, rows, suffix)
  }
} finally {
  await end()
}

const seconds = (performance.now() - began) / 1000
const machine = { processor: cpus()[0]?.model, cores: cpus().length, node: process.version }
writeFileSync(options.json, JSON.stringify({ machine, quick: options.quick, seconds, measured }, null, 2))
console.log(
  `${table(measured)}\n\n${machine.cores} cores, ${machine.processor}; ${seconds.toFixed(0)} s; ${options.json}`
)
