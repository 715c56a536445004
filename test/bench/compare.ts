import { spawnSync } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { fileURLToPath } from "node:url"
import { total } from "./Cpu.ts"
import { type Measured, median } from "./Row.ts"

const usage = `npm run bench:compare -- FOLDER [--rounds N] [options of npm run bench]

Measures the checkout in FOLDER and this one by turns, four times each or N times, on the same machine, and prints the
medians side by side. FOLDER needs its own npm ci.`

const [folder, ...given] = process.argv.slice(2)
const roundsAt = given.indexOf("--rounds")
/** Runs of each side: what a machine does beside shows in both. */
const rounds = roundsAt === -1 ? 4 : Number(given[roundsAt + 1])
const options = roundsAt === -1 ? given : given.toSpliced(roundsAt, 2)
if (folder === undefined || folder.startsWith("-") || !Number.isSafeInteger(rounds) || rounds < 1) {
  console.error(usage)
  process.exit(1)
}

const sides = [resolve(folder), fileURLToPath(new URL("../..", import.meta.url))] as const
const results = mkdtempSync(join(tmpdir(), "murmuration-compare-"))

/** The figures of one run by row and unit; CPU milliseconds where a row has them. */
const measure = (side: string, file: string): ReadonlyMap<string, number> => {
  const { status } = spawnSync(
    join(side, "node_modules/.bin/node"),
    ["test/bench/bench.ts", ...options, "--json", file],
    { cwd: side, stdio: ["ignore", "ignore", "inherit"] }
  )
  if (status !== 0) throw new Error(`The bench in ${side} left with code ${status}`)
  const { measured }: { readonly measured: ReadonlyArray<Measured> } = JSON.parse(readFileSync(file, "utf8"))
  const found = new Map<string, number>()
  for (const { figures, millis, name, perSecond } of measured) {
    if (millis !== undefined) found.set(`${name}, CPU ms`, total(millis))
    if (perSecond !== undefined) found.set(`${name}, op/s`, perSecond)
    for (const [label, value] of Object.entries(figures ?? {})) found.set(`${name}: ${label}`, value)
  }
  return found
}

try {
  const before: Array<ReadonlyMap<string, number>> = []
  const after: Array<ReadonlyMap<string, number>> = []
  for (let round = 1; round <= rounds; round++) {
    const turns = [[sides[0], before], [sides[1], after]] as const
    // Each is the first as often as the other: what comes second finds a machine that is warm, or throttled.
    for (const [side, found] of round % 2 === 1 ? turns : turns.toReversed()) {
      console.error(`\nround ${round} of ${rounds}: ${side}`)
      found.push(measure(side, join(results, "measured.json")))
    }
  }
  const middle = (of: ReadonlyArray<ReadonlyMap<string, number>>, row: string) =>
    median(of.flatMap((run) => run.get(row) ?? []))
  for (const row of after[0]?.keys() ?? []) {
    const [was, is] = [middle(before, row), middle(after, row)]
    const change = was === 0 || Number.isNaN(was) ? "new" : `${(((is - was) / was) * 100).toFixed(1)}%`
    console.log(`${row.padEnd(80)} ${was.toPrecision(4).padStart(10)} ${is.toPrecision(4).padStart(10)} ${change}`)
  }
} finally {
  rmSync(results, { recursive: true })
}
