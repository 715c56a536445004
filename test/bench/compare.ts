import { writeFileSync } from "node:fs"
import { parseArgs } from "node:util"
import * as BenchServer from "./BenchServer.ts"
import * as Checkout from "./Checkout.ts"
import { seed, type Size } from "./People.ts"
import { change, middle, type Pair } from "./Ratios.ts"
import * as Sessions from "./Sessions.ts"
import * as Turns from "./Turns.ts"

const usage = `npm run bench:compare -- FOLDER [--starts N] [--seconds N] [--only NAME]... [--quick] [--json FILE]

Compares this checkout with the one in FOLDER, which needs its own npm ci. Both servers run at the same time and get
short slices of the same load in turns. They are restarted N times (default 6), and each row runs N seconds per start
(default 10). Rows that cannot be sliced are measured whole, once per start. FOLDER may be this checkout; the result is
then the bench's noise.`

function readOptions() {
  try {
    const { positionals, values } = parseArgs({
      allowPositionals: true,
      options: {
        only: { type: "string", multiple: true },
        quick: { type: "boolean", default: false },
        json: { type: "string" },
        starts: { type: "string", default: "6" },
        seconds: { type: "string", default: "10" }
      }
    })
    const [folder, ...more] = positionals
    const [starts, seconds] = [Number(values.starts), Number(values.seconds)]
    const counts = [starts, seconds].every((count) => Number.isSafeInteger(count) && count > 0)
    if (folder === undefined || more.length > 0 || !counts) {
      throw new Error("Expected one folder, and whole numbers above 0.")
    }
    return { folder, starts, seconds, only: values.only, quick: values.quick, json: values.json }
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : String(error)}\n\n${usage}`)
    process.exit(1)
  }
}

const { folder, json, only, quick, seconds, starts } = readOptions()
const followersMax: Size = quick ? 10_000 : 100_000
const options = { only: undefined, quick, full: false, json: json ?? "", profile: undefined, runs: 1, seconds }

const removals: Array<() => Promise<void>> = []
const endAll = async () => {
  Sessions.end()
  await Turns.stop()
  for (const remove of removals) await remove()
}
let ended: Promise<void> | undefined
/** Runs once: a signal and the failure that it causes share the same cleanup. */
const end = () => ended ??= endAll()
const isEnded = () => ended !== undefined
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => void end().then(() => process.exit(1)))

/** Prepares a side with data from a first start of its own checkout. */
const prepare = async (checkout: Checkout.Checkout): Promise<Turns.Side> => {
  const data = await BenchServer.makeDataDir()
  removals.push(data.remove)
  const first = await BenchServer.single(data.folder, {}, checkout)
  const people = await seed(first.query, followersMax)
  await first.stop()
  return { checkout, dataDir: data.folder, people }
}

const figure = (value: number) => value.toPrecision(3).padStart(9)
const percent = (ratio: number) => (Number.isFinite(ratio) ? `${((ratio - 1) * 100).toFixed(1)}%` : "").padStart(8)
const columns = ["before", "after", "change", "from", "to", "whole"]

const print = (found: ReadonlyMap<string, ReadonlyArray<ReadonlyArray<Pair>>>) => {
  const width = Math.max(...[...found.keys()].map((name) => name.length))
  console.log("row".padEnd(width) + columns.map((column, at) => column.padStart(at < 2 ? 10 : 9)).join(""))
  for (const [name, taken] of found) {
    const all = taken.flat()
    const [before, after] = [middle(all.map((pair) => pair.before)), middle(all.map((pair) => pair.after))]
    const { high, low, ratio, whole } = change(taken)
    const cells = [figure(before), figure(after), percent(ratio), percent(low), percent(high), percent(whole)]
    console.log([name.padEnd(width), ...cells].join(" "))
  }
}

const everything: Record<string, ReadonlyArray<ReadonlyArray<Pair>>> = {}
try {
  const sides = [await prepare(Checkout.read(folder)), await prepare(Checkout.ours)] as const
  for (const session of Sessions.wanted(followersMax, only)) {
    const found = new Map<string, Array<ReadonlyArray<Pair>>>()
    // After a signal, rows of stopped servers are skipped and no servers are started.
    for (let start = 0; start < starts && !isEnded(); start++) {
      const once = await Turns.compare(session, sides, options, start % 2 === 1)
      if (once === undefined) {
        console.error("There is no redis-server, so the rows of a cluster are left out.")
        break
      }
      for (const [name, taken] of once) found.set(name, [...found.get(name) ?? [], taken])
      Object.assign(everything, Object.fromEntries(found))
      if (json !== undefined) writeFileSync(json, JSON.stringify(everything, null, 2))
      console.error(`start ${start + 1} of ${starts}`)
    }
    if (found.size > 0) print(found)
  }
} finally {
  await end()
}
