import { Effect } from "effect"
import { whileFrozen } from "../cluster/Freezing.ts"
import { Dice } from "../simulation/Seeded.ts"
import type { InjectedFault, Ledger } from "./Ledger.ts"
import type { Machines, NodeSlot } from "./Machines.ts"

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
const durationMillis = { min: 2_000, max: 8_000 }
/** Delay before a killed node is restarted, as by a supervisor, in milliseconds. */
const restartMillis = 2_000

export interface Planned {
  readonly kind: FaultKind
  readonly slot: number
  readonly millis: number
}

/** Draws the faults of a seed: each kind occurs once before any is repeated. */
export const plan = (seed: number, count: number, slots: number): ReadonlyArray<Planned> => {
  const dice = new Dice(seed, "faults")
  let remainingKinds: Array<FaultKind> = []
  return Array.from({ length: count }, () => {
    if (remainingKinds.length === 0) remainingKinds = [...faultKinds]
    const kind = dice.pick(remainingKinds)
    remainingKinds = remainingKinds.filter((other) => other !== kind)
    return { kind, slot: dice.between(0, slots), millis: dice.between(durationMillis.min, durationMillis.max) }
  })
}

const toggle = ({ pid }: NodeSlot) =>
  Effect.sync(() => {
    if (pid !== undefined) process.kill(pid, "SIGUSR2")
  })

/** Injects a fault; completes when all machines run again. */
export const inject = Effect.fnUntraced(
  function*({ meter, slots, postgres, redis, sql }: Machines, ledger: Ledger, { kind, millis, slot }: Planned) {
    const node = slots[slot % slots.length]!
    const ofNode = kind === "node killed" || kind === "node frozen" || kind === "cluster port closed"
    const nodeName = ofNode ? node.name : ""
    const injected: InjectedFault = { kind, nodeName, began: ledger.now, ended: Infinity, cpu: meter.read() }
    ledger.faults.push(injected)
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
    injected.ended = ledger.now
  }
)
