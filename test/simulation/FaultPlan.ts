import { staleMillis } from "../../src/services/media/MediaJobs.ts"
import * as CommandPlan from "./CommandPlan.ts"
import { Dice } from "./Seeded.ts"
import * as TargetedFaults from "./TargetedFaults.ts"
import { hasMedia, isCalm, type Side, type Step } from "./World.ts"

/** A fault at the `nth` step of a kind on the machine at the port, counted from `at` milliseconds on. */
export interface AtStep {
  readonly kind: "crash" | "freeze" | "cut"
  readonly port: number
  readonly at: number
  readonly step: Step
  readonly nth: number
  /**
   * Counts steps from the `nth` of these commands on, on the machine that runs it; the command's commit is the first
   * step, unless they are steps of transfers.
   */
  readonly of?: { readonly commands: TargetedFaults.Tags; readonly nth: number }
  /** For SQL: before or after Postgres executes the statement. */
  readonly side: Side
  /** Duration of the freeze or the absence. */
  readonly millis: number
}

/** A fault at a time, in milliseconds after the commands began. */
export interface AtTime {
  readonly kind: "stop" | "refuse" | "partition" | "slow" | "flush"
  readonly port: number
  readonly at: number
  readonly millis: number
}

export type Fault = AtStep | AtTime

export const faultKinds = ["crash", "freeze", "cut", "stop", "refuse", "partition", "slow", "flush"] as const

/** Approximate number of steps of each kind that a machine takes while commands arrive. */
const stepsMax: Record<Step, number> = {
  sql: 180,
  commit: 24,
  write: 24,
  effect: 36,
  feeds: 24,
  bus: 36,
  network: 30,
  files: 12
}

/** Maximum untargeted faults of a seed, and maximum faults in total. */
const scatteredMax = 4
export const faultsMax = scatteredMax + TargetedFaults.faultsMax + TargetedFaults.transferFaultsMax

/** Returns the faults of a seed, at least one of them untargeted. A calm seed only loses responses of commits. */
export const plan = (
  seed: number,
  nodes: number,
  calm = isCalm(seed),
  withTransfers = false
): ReadonlyArray<Fault> => {
  const [dice, late, media] = [new Dice(seed, "faults"), CommandPlan.lateMillis(seed), hasMedia(seed)]
  if (calm) {
    return Array.from({ length: scatteredMax }, (): Fault => ({
      kind: "cut",
      port: dice.between(1, nodes + 1),
      at: dice.between(0, CommandPlan.rushMillis),
      step: "commit",
      nth: dice.between(1, 4),
      side: "after",
      millis: 0
    }))
  }
  const scattered = Array.from({ length: dice.between(1, scatteredMax + 1) }, (): Fault => {
    const kind = dice.weighted<Fault["kind"]>([
      [8, "crash"],
      [5, "freeze"],
      [3, "cut"],
      [1, "stop"],
      [2, "refuse"],
      [2, "partition"],
      [1, "slow"],
      [1, "flush"]
    ])
    const port = dice.between(1, nodes + 1)
    const at = dice.between(0, CommandPlan.rushMillis) + (dice.chance(0.5) ? late : 0)
    // Half of the faults at a step count from the start, half from a later time.
    const early = late === 0 && dice.chance(0.5)
    const from = early ? 0 : at
    const side = dice.pick(["before", "after"] as const)
    const step = kind === "cut"
      ? dice.pick(["sql", "commit"] as const)
      : dice.weighted<Step>([
        [2, "sql"],
        [6, "commit"],
        [1, "write"],
        [2, "effect"],
        [4, "feeds"],
        [1, "bus"],
        [2, "network"],
        [media ? 6 : 0, "files"]
      ])
    const nth = dice.between(1, early ? stepsMax[step] : Math.ceil(stepsMax[step] / 4))
    switch (kind) {
      case "crash":
        return { kind, port, at: from, step, nth, side, millis: dice.between(1000, 9000) }
      case "freeze":
        return { kind, port, at: from, step, nth, side, millis: dice.between(2000, 14_000) }
      case "cut":
        return { kind, port, at: from, step, nth, side, millis: 0 }
      case "stop":
        return { kind, port, at, millis: dice.between(0, 4000) }
      case "refuse":
        return { kind, port, at, millis: dice.between(300, 4000) }
      case "partition":
      case "flush":
        return { kind, port, at, millis: 0 }
      case "slow":
        return { kind, port, at, millis: dice.between(500, 4000) }
    }
  })
  return [...scattered, ...TargetedFaults.plan(seed), ...(withTransfers ? TargetedFaults.ofTransfers(seed) : [])]
}

/**
 * Freezes each node just after it stores a file, mostly one made by its media job, and once more later. Each freeze is
 * long enough for another node to restart the job, and ends before that job is done.
 */
export const standstills = (seed: number, nodes: number): ReadonlyArray<Fault> => {
  const dice = new Dice(seed, "standstills")
  return Array.from({ length: scatteredMax }, (_, n): Fault => ({
    kind: "freeze",
    port: 1 + n % nodes,
    at: n < nodes ? 0 : staleMillis * 2,
    step: "files",
    nth: dice.between(1, stepsMax.files),
    side: "after",
    millis: dice.between(staleMillis - 2000, staleMillis + 6000)
  }))
}
