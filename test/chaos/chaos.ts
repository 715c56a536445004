import { NodeServices } from "@effect/platform-node"
import { Cause, Effect, Exit, Fiber, FileSystem } from "effect"
import { writeFileSync } from "node:fs"
import { parseArgs } from "node:util"
import { makeAccounts } from "../cluster/Nodes.ts"
import * as Checks from "./Checks.ts"
import { Clients } from "./Clients.ts"
import * as Faults from "./Faults.ts"
import { Ledger } from "./Ledger.ts"
import * as Machines from "./Machines.ts"
import * as Report from "./Report.ts"
import { listen } from "./Streams.ts"

const usage = `npm run chaos -- [--minutes N] [--seed S] [--rate R] [--fault TEXT] [--json FILE] [--logs]
  --minutes N   injects faults for N minutes, one every ${Faults.faultSeconds} seconds; default 5
  --seed S      seed of the faults and commands; default 1
  --rate R      commands per second; default 40
  --fault TEXT  only faults whose name contains the text: ${Faults.faultKinds.join(", ")}
  --json FILE   writes the JSON report to a file instead of printing it
  --logs        prints the logs of the nodes`

const accountsCount = 50
const followsEach = 5
const listenersMax = 9
/** Milliseconds before the first fault, and the maximum wait after the last one until all work is done. */
const warmMillis = 10_000
const drainMillisMax = 30_000

const options = () => {
  try {
    const { values } = parseArgs({
      options: {
        minutes: { type: "string", default: "5" },
        seed: { type: "string", default: "1" },
        rate: { type: "string", default: "40" },
        fault: { type: "string", default: "" },
        json: { type: "string" },
        logs: { type: "boolean", default: false }
      }
    })
    const [minutes, seed, rate] = [values.minutes, values.seed, values.rate].map(Number)
    if (!(minutes! > 0) || !Number.isSafeInteger(seed) || !(rate! > 0)) {
      throw new Error("--minutes and --rate must be above 0, and --seed a whole number")
    }
    return { ...values, minutes: minutes!, seed: seed!, rate: rate! }
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : String(error)}\n\n${usage}`)
    return process.exit(2)
  }
}

/** Waits until no work is left, for a limited time. */
const drain = Effect.fnUntraced(function*({ sql }: Machines.Machines) {
  for (let waited = 0; waited < drainMillisMax; waited += 500) {
    yield* Effect.sleep(500)
    const [work] = yield* Effect.orDie(sql<{ n: number }>`SELECT count(*)::int AS n FROM fanouts`)
    if (work?.n === 0) break
  }
  yield* Effect.sleep(2_000)
})

const run = Effect.gen(function*() {
  const { fault, json, logs, minutes, rate, seed } = options()
  const fs = yield* FileSystem.FileSystem
  const machines = yield* Machines.make(["a", "b", "c"], yield* fs.makeTempDirectoryScoped({ prefix: "chaos-" }))
  const { meter, slots, sql } = machines
  const names = Array.from({ length: accountsCount }, (_, n) => `person${n}`)
  const accounts = yield* makeAccounts(slots[0]!.variables, names)
  const ledger = new Ledger()
  const clients = new Clients(seed, ledger, slots, accounts)
  for (const [n, account] of accounts.slice(0, listenersMax).entries()) yield* listen(ledger, slots, account, n)
  const count = Math.max(1, Math.round(minutes * 60 / Faults.faultSeconds))
  const planned = Faults.plan(seed, count * Faults.faultKinds.length, slots.length)
    .filter(({ kind }) => kind.includes(fault)).slice(0, count)
  yield* Effect.promise(() => clients.followOthers(followsEach))
  const start = { at: ledger.now, cpu: meter.read() }
  const load = yield* Effect.forkChild(Effect.promise(() => clients.run(rate)))
  yield* Effect.sleep(warmMillis)
  for (const one of planned) {
    const next = ledger.now + Faults.faultSeconds * 1_000
    console.log(`${Math.round(ledger.now / 1_000)} s: ${one.kind}; ${clients.waiting} pending commands`)
    yield* Faults.inject(machines, ledger, one)
    yield* Effect.sleep(Math.max(Report.observedMillisMin, next - ledger.now))
  }
  clients.stop()
  const end = { at: ledger.now, cpu: meter.read() }
  yield* Fiber.join(load)
  yield* drain(machines)
  const broken = yield* Checks.check({ sql, ledger, slots, people: accounts })
  const rows = Report.rows(ledger, broken, start, end)
  const slow = rows.filter(Report.isSlow)
  const summary = Report.summary(ledger, broken, rows)
  console.log(`\n${Report.table(rows)}\n${Report.legend}\n`)
  for (const { text, kind } of broken) console.log(`${kind}: ${text}`)
  for (const { at, recovery, fault, saturated } of slow) {
    const after = recovery === undefined ? "did not recover" : `recovered after ${recovery} s`
    console.log(
      `${saturated ? "slow, on a saturated machine" : "slow"}: after ${fault} at ${at} s the rate ${after}`
    )
  }
  if (logs) { for (const { log, name } of slots) console.log(`--- ${name}\n${log()}`) }
  const report = JSON.stringify({ seed, minutes, rate, summary, broken, faults: rows }, null, 2)
  if (json === undefined) console.log(report)
  else writeFileSync(json, `${report}\n`)
  return broken.length === 0 && slow.every(({ saturated }) => saturated)
})

const interrupted = new AbortController()
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => interrupted.abort())
const exit = await Effect.runPromiseExit(
  Effect.scoped(run).pipe(Effect.provide(NodeServices.layer)),
  { signal: interrupted.signal }
)
if (Exit.isFailure(exit)) console.error(Cause.pretty(exit.cause))
process.exit(Exit.isSuccess(exit) && exit.value ? 0 : 1)
