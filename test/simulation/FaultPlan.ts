import type { Command } from "../../src/actors/account/Protocol.ts"
import { staleMillis } from "../../src/services/media/MediaJobs.ts"
import * as Drawing from "./Drawing.ts"
import * as Pointed from "./Pointed.ts"
import { Dice } from "./Seeded.ts"
import { hasMedia, isCalm, type Side, type Step } from "./World.ts"

/** A fault at a step: the `nth` of that kind that whoever has the port takes, from `at` milliseconds on. */
export interface AtStep {
  readonly kind: "crash" | "freeze" | "cut"
  readonly port: number
  readonly at: number
  readonly step: Step
  readonly nth: number
  /** Steps count from the `nth` of these commands on, of the machine that does it; its own commit is the first one. */
  readonly of?: { readonly commands: ReadonlyArray<Command["_tag"]>; readonly nth: number }
  /** Of SQL: before or after Postgres works on it. */
  readonly side: Side
  /** How long it stands still, or is away. */
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

/** About how many steps of a kind a machine takes while commands come. */
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

/** Faults that a seed may have anywhere, and in all, with those that are pointed at something. */
const scatteredMax = 4
export const faultsMax = scatteredMax + Pointed.faultsMax

/** The faults of a seed, with one at least anywhere; where it is calm, answers of commits are lost and nothing else. */
export const plan = (seed: number, nodes: number, calm = isCalm(seed)): ReadonlyArray<Fault> => {
  const [dice, late, media] = [new Dice(seed, "faults"), Drawing.lateMillis(seed), hasMedia(seed)]
  if (calm) {
    return Array.from({ length: scatteredMax }, (): Fault => ({
      kind: "cut",
      port: dice.between(1, nodes + 1),
      at: dice.between(0, Drawing.rushMillis),
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
    const at = dice.between(0, Drawing.rushMillis) + (dice.chance(0.5) ? late : 0)
    // Half of the faults at a step wait for one from the beginning, half for one of the next that come then.
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
  return [...scattered, ...Pointed.plan(seed)]
}

/**
 * Each node stands still when it has just stored a file, mostly one that its media job made, and once more later: for so
 * long that another node begins the job anew, and not much longer, so that it is awake again before that one is done.
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
