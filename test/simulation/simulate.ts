import { open, run, shrink, standard } from "./Simulation.ts"

/** `npm run simulate -- --seed N [--runs M]`: prints a line a seed; a failure prints its shortest trace and ends with 1. */
const option = (name: string, fallback: number) => {
  const at = process.argv.indexOf(`--${name}`)
  const value = at === -1 ? fallback : Number(process.argv[at + 1])
  if (!Number.isSafeInteger(value)) throw new Error(`--${name} takes a whole number`)
  return value
}

const options = { ...standard, commands: option("commands", standard.commands), logs: process.argv.includes("--logs") }
const first = option("seed", 1)
const runs = option("runs", 1)
const database = await open()
let failures = 0
for (let seed = first; seed < first + runs; seed++) {
  const began = performance.now()
  const result = await run(database, seed, options)
  const figures = `${result.answered}/${options.commands} answered, ${result.virtualMillis} ms virtual, ` +
    `${Math.round(performance.now() - began)} ms`
  if (result.broken.length === 0) {
    console.log(`seed ${seed} holds ${result.hash.slice(0, 12)} (${figures}) ${result.faults.join("; ")}`)
    continue
  }
  failures++
  const shortest = await shrink(database, result, { ...options, logs: false })
  console.log(`seed ${seed} BREAKS; the shortest run that does has ${shortest.commands} commands:`)
  for (const line of [...shortest.faults, ...shortest.broken]) console.log(`  ${line}`)
}
console.log(`${runs} seeds, ${failures} failed`)
process.exit(failures === 0 ? 0 : 1)
