import { open, run, standard } from "./Simulation.ts"
const option = (name: string, fallback: number) => {
  const at = process.argv.indexOf(`--${name}`)
  return at === -1 ? fallback : Number(process.argv[at + 1])
}
const options = { ...standard, logs: process.argv.includes("--logs") }
const first = option("seed", 1)
const database = await open()
for (let seed = first; seed < first + option("runs", 1); seed++) {
  const began = performance.now()
  const r = await run(database, seed, options)
  console.log(seed, r.hash.slice(0, 8), r.virtualMillis, Math.round(performance.now() - began), JSON.stringify(r.counts), r.broken)
  if (process.argv.includes("--show")) console.log(r.log.join("\n"))
}
process.exit(0)
