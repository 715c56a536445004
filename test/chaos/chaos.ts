import { NodeServices } from "@effect/platform-node"
import { Cause, Effect, Exit, Fiber, FileSystem } from "effect"
import { writeFileSync } from "node:fs"
import { parseArgs } from "node:util"
import { makeAccounts } from "../cluster/Nodes.ts"
import { Clients } from "./Clients.ts"
import * as Faults from "./Faults.ts"
import { Ledger } from "./Ledger.ts"
import { listen } from "./Listening.ts"
import * as Machines from "./Machines.ts"
import * as Report from "./Report.ts"
import * as Verdicts from "./Verdicts.ts"

const usage = `npm run chaos -- [--minutes N] [--seed S] [--rate R] [--fault TEXT] [--json FILE] [--logs]
  --minutes N   how long faults come, one every ${Faults.faultSeconds} seconds, 5 by default
  --seed S      which faults and which commands, 1 by default
  --rate R      commands a second, 40 by default
  --fault TEXT  only faults whose name contains it: ${Faults.faultKinds.join(", ")}
  --json FILE   the report as JSON, too; else it is printed
  --logs        prints what the nodes logged`

const people = 50
const followsEach = 5
const listenersMax = 9
/** Milliseconds before the first fault, and the maximum wait after the last one until all work is done. */
const warmMillis = 10_000
const restMillisMax = 30_000

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
    if (!(minutes! > 0) || !Number.isSafeInteger(seed) || !(rate! > 0)) throw new Error("No such number")
    return { ...values, minutes: minutes!, seed: seed!, rate: rate! }
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : String(error)}\n\n${usage}`)
    return process.exit(2)
  }
}

/** Waits until no work is left, for a limited time. */
const rest = Effect.fnUntraced(function*({ sql }: Machines.Machines) {
  for (let waited = 0; waited < restMillisMax; waited += 500) {
    yield* Effect.sleep(500)
    const [left] = yield* Effect.orDie(sql<{ n: number }>`SELECT count(*)::int AS n FROM fanouts`)
    if (left?.n === 0) break
  }
  yield* Effect.sleep(2_000)
})

const run = Effect.gen(function*() {
  const { fault, json, logs, minutes, rate, seed } = options()
  const fs = yield* FileSystem.FileSystem
  const machines = yield* Machines.make(["a", "b", "c"], yield* fs.makeTempDirectoryScoped({ prefix: "chaos-" }))
  const { meter, places, sql } = machines
  const names = Array.from({ length: people }, (_, n) => `person${n}`)
  const accounts = yield* makeAccounts(places[0]!.variables, names)
  const ledger = new Ledger()
  const clients = new Clients(seed, ledger, places, accounts)
  for (const [n, account] of accounts.slice(0, listenersMax).entries()) yield* listen(ledger, places, account, n)
  const count = Math.max(1, Math.round(minutes * 60 / Faults.faultSeconds))
  const planned = Faults.plan(seed, count * Faults.faultKinds.length, places.length)
    .filter(({ kind }) => kind.includes(fault)).slice(0, count)
  yield* Effect.promise(() => clients.befriend(followsEach))
  const start = { at: ledger.now, cpu: meter.read() }
  const load = yield* Effect.forkChild(Effect.promise(() => clients.run(rate)))
  yield* Effect.sleep(warmMillis)
  for (const one of planned) {
    const next = ledger.now + Faults.faultSeconds * 1_000
    console.log(`${Math.round(ledger.now / 1_000)} s: ${one.kind}; ${clients.waiting} commands wait`)
    yield* Faults.strike(machines, ledger, one)
    yield* Effect.sleep(Math.max(Report.observedMillisMin, next - ledger.now))
  }
  clients.stop()
  const end = { at: ledger.now, cpu: meter.read() }
  yield* Fiber.join(load)
  yield* rest(machines)
  const broken = yield* Verdicts.check({ sql, ledger, places, people: accounts })
  const rows = Report.rows(ledger, broken, start, end)
  const slow = rows.filter(Report.isSlow)
  const summary = Report.summary(ledger, broken, rows)
  console.log(`\n${Report.table(rows)}\n${Report.legend}\n`)
  for (const { text, what } of broken) console.log(`${what}: ${text}`)
  for (const { at, back, fault, saturated } of slow) {
    const after = back === undefined ? "did not come back" : `came back after ${back} s`
    console.log(
      `${saturated ? "slow, and the machine saturated" : "slow"}: after ${fault} at ${at} s the rate ${after}`
    )
  }
  if (logs) { for (const { log, name } of places) console.log(`--- ${name}\n${log()}`) }
  const report = JSON.stringify({ seed, minutes, rate, summary, broken, faults: rows }, null, 2)
  if (json === undefined) console.log(report)
  else writeFileSync(json, `${report}\n`)
  return broken.length === 0 && slow.every(({ saturated }) => saturated)
})

const stopped = new AbortController()
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => stopped.abort())
const exit = await Effect.runPromiseExit(
  Effect.scoped(run).pipe(Effect.provide(NodeServices.layer)),
  { signal: stopped.signal }
)
if (Exit.isFailure(exit)) console.error(Cause.pretty(exit.cause))
process.exit(Exit.isSuccess(exit) && exit.value ? 0 : 1)
