import { mkdirSync, writeFileSync } from "node:fs"
import { cpus } from "node:os"
import { join } from "node:path"
import * as Options from "./Options.ts"
import { type People, seed, type Size, sizes } from "./People.ts"
import type { Bench, Measured, Row } from "./Row.ts"
import { median } from "./Row.ts"
import * as Actors from "./rows/Actors.ts"
import * as Deliveries from "./rows/Deliveries.ts"
import { fanout } from "./rows/Fanouts.ts"
import * as Federation from "./rows/Federation.ts"
import { floor } from "./rows/Floor.ts"
import * as Media from "./rows/Media.ts"
import { pauses } from "./rows/Pauses.ts"
import * as Requests from "./rows/Requests.ts"
import { events } from "./rows/Streaming.ts"
import * as Stand from "./Stand.ts"
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

const wanted = ({ name }: { readonly name: string }) => options.only === undefined || name.includes(options.only)

const inMemory: ReadonlyArray<Row> = [
  Actors.idle,
  floor,
  Requests.instance,
  Requests.status,
  Requests.home20,
  Requests.home40,
  Requests.accountStatuses,
  Requests.publicTimeline,
  Requests.posting,
  ...sizes.filter((size) => size <= followersMax).map(fanout),
  events,
  ...Media.rows,
  pauses,
  Actors.activation
]
const inCluster: ReadonlyArray<Row> = [Requests.home20, Requests.posting, fanout(10_000), events]

const measured: Array<Measured> = []
const add = (found: ReadonlyArray<Measured>, where = "") => {
  for (const row of found) {
    measured.push({ ...row, name: row.name + where })
    console.error(table([{ ...row, name: row.name + where }]).split("\n").slice(1).join("\n"))
  }
}

const profiled = async (bench: Bench, row: Row) => {
  const { server } = bench.stand
  if (options.profile === undefined) return row.measure(bench)
  mkdirSync(options.profile, { recursive: true })
  await server.ask({ kind: "profile" })
  const found = await row.measure(bench)
  const file = join(options.profile, `${row.name.replaceAll(/[^a-z0-9]+/gi, "-")}.cpuprofile`)
  await server.ask({ kind: "profiled", file })
  return found
}

let running: Stand.Stand | undefined
const measureAll = async (stand: Stand.Stand | undefined, people: People, rows: ReadonlyArray<Row>, where?: string) => {
  running = stand
  if (stand === undefined) return console.error("There is no redis-server, so the rows of a cluster are left out.")
  for (const row of rows) add(await profiled({ stand, people, options }, row), where)
  await stand.stop()
  running = undefined
}

const data = await Stand.makeDataDir()
const end = async () => {
  await running?.stop()
  await data.remove()
}
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => void end().then(() => process.exit(1)))

const began = performance.now()
try {
  const first = running = await Stand.single(data.folder)
  const people = await seed(first.query, followersMax)
  await first.stop()
  console.error(
    `${people.accounts} accounts, ${people.statusIds.length} statuses; RATE_LIMITS=off unless a row says so`
  )

  if (wanted({ name: "start to first 200" })) {
    const starts: Array<number> = []
    for (let run = 0; run < options.runs; run++) {
      const again = running = await Stand.single(data.folder)
      starts.push(again.startMillis)
      await again.stop()
    }
    const millis = median(starts)
    add([{
      name: "start to first 200",
      figures: { "ms": millis, "the very first, which makes the database, ms": first.startMillis },
      target: { text: "< 5 s", met: millis < startTarget }
    }])
  }
  const rows = inMemory.filter(wanted)
  if (rows.length > 0) await measureAll(await Stand.single(data.folder), people, rows)
  if (wanted(Requests.limited)) {
    await measureAll(await Stand.single(data.folder, { RATE_LIMITS: "on" }), people, [Requests.limited])
  }
  const federated = Federation.rows.filter(wanted)
  if (federated.length > 0) {
    const lab = { OUTBOUND_ALLOW: "127.0.0.0/8" }
    await measureAll(await Stand.single(data.folder, lab), people, federated)
  }
  const leaving = [Deliveries.signed, Deliveries.manyInboxes].filter(wanted)
  if (leaving.length > 0) await measureAll(await Stand.single(data.folder, Deliveries.variables), people, leaving)
  await Deliveries.end()
  const shared = inCluster.filter((row) => wanted({ name: `${row.name} (cluster)` }))
  if (shared.length > 0) await measureAll(await Stand.clustered(data.folder), people, shared, " (cluster)")
} finally {
  await end()
}

const seconds = (performance.now() - began) / 1000
const machine = { processor: cpus()[0]?.model, cores: cpus().length, node: process.version }
writeFileSync(options.json, JSON.stringify({ machine, quick: options.quick, seconds, measured }, null, 2))
console.log(
  `${table(measured)}\n\n${machine.cores} cores, ${machine.processor}; ${seconds.toFixed(0)} s; ${options.json}`
)
