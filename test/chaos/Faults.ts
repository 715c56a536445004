import { Effect } from "effect"
import { whileFrozen } from "../cluster/Freezing.ts"
import { Dice } from "../simulation/Seeded.ts"
import type { Happened, Ledger } from "./Ledger.ts"
import type { Machines, Place } from "./Machines.ts"

/** Seconds between the starts of two faults; more after a long fault. */
export const faultSeconds = 20

export const faultKinds = [
  "node killed",
  "node frozen",
  "Redis killed",
  "Redis flushed",
  "Redis frozen",
  "Postgres restarted",
  "Postgres sessions cut",
  "cluster port closed"
] as const
export type FaultKind = (typeof faultKinds)[number]

/** Duration of faults that last, in milliseconds; shorter than the time between faults. */
const lastsMillis = { min: 2_000, max: 8_000 }
/** Delay before a killed node is restarted, as by a supervisor, in milliseconds. */
const restartMillis = 2_000

export interface Planned {
  readonly kind: FaultKind
  readonly place: number
  readonly millis: number
}

/** Draws the faults of a seed: each kind occurs once before any is repeated. */
export const plan = (seed: number, count: number, places: number): ReadonlyArray<Planned> => {
  const dice = new Dice(seed, "faults")
  let left: Array<FaultKind> = []
  return Array.from({ length: count }, () => {
    if (left.length === 0) left = [...faultKinds]
    const kind = dice.pick(left)
    left = left.filter((other) => other !== kind)
    return { kind, place: dice.between(0, places), millis: dice.between(lastsMillis.min, lastsMillis.max) }
  })
}

const toggle = ({ pid }: Place) =>
  Effect.sync(() => {
    if (pid !== undefined) process.kill(pid, "SIGUSR2")
  })

/** Injects a fault; completes when all machines run again. */
export const strike = Effect.fnUntraced(
  function*({ meter, places, postgres, redis, sql }: Machines, ledger: Ledger, { kind, millis, place }: Planned) {
    const node = places[place % places.length]!
    const ofNode = kind === "node killed" || kind === "node frozen" || kind === "cluster port closed"
    const where = ofNode ? node.name : ""
    const happened: Happened = { kind, where, began: ledger.now, ended: Infinity, cpu: meter.read() }
    ledger.faults.push(happened)
    switch (kind) {
      case "node killed":
        yield* node.kill
        yield* Effect.sleep(restartMillis)
        yield* node.start
        break
      case "node frozen":
        if (node.pid !== undefined) yield* whileFrozen(node.pid, Effect.sleep(millis + 4_000))
        break
      case "Redis killed":
        yield* redis.kill
        yield* Effect.sleep(millis)
        yield* redis.start
        break
      case "Redis flushed":
        yield* redis.flush
        break
      case "Redis frozen":
        yield* whileFrozen(redis.pid(), Effect.sleep(millis))
        break
      case "Postgres restarted":
        yield* postgres.whileStopped(Effect.sleep(millis / 4))
        break
      case "Postgres sessions cut":
        yield* sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
          WHERE application_name = 'murmuration' AND pid <> pg_backend_pid()`.pipe(Effect.ignore)
        break
      case "cluster port closed":
        yield* toggle(node)
        yield* Effect.sleep(millis)
        yield* toggle(node)
        break
    }
    happened.ended = ledger.now
  }
)
