import type { Command } from "../../../src/actors/account/core/AccountProtocol.ts"
import { Dice } from "../Seeded.ts"
import type { Side } from "../World.ts"
import { rushMillis } from "./Clients.ts"
import type { NetworkFault } from "./Exchange.ts"
import type { Outage } from "./Web.ts"

/** Points at which a server's process can end: it sends SQL, commits, sends a request, or responds to one. */
export type Step = "sql" | "commit" | "request" | "response"

/** A fault at the `nth` step of a kind, counted from `at` milliseconds on; the process restarts after `millis`. */
export interface AtStep {
  readonly kind: "crash" | "cut" | "freeze"
  readonly site: number
  readonly at: number
  readonly step: Step
  readonly nth: number
  /** Counts steps from the commit of a command of this kind on, on any server. */
  readonly of?: ReadonlyArray<Command["_tag"]>
  readonly side: Side
  readonly millis: number
}

/** Network fault of the `nth` request to the host from `at` milliseconds on. */
export interface AtRequest {
  readonly kind: "request lost" | "response lost" | "duplicated" | "delayed" | "queued"
  readonly site: number
  readonly at: number
  readonly nth: number
  /** POST for deliveries, GET for other requests. */
  readonly method: "POST" | "GET"
  /** Counts deliveries of this type to any host; if absent, all requests to the site's host. */
  readonly of?: "Undo" | "Update" | "Create" | "Block"
  readonly networkFault: NetworkFault
}

/** Outage of a host from `at` milliseconds on, for `millis`. */
export interface AtTime {
  readonly kind: "down" | "busy" | "slow"
  readonly site: number
  readonly at: number
  readonly millis: number
  readonly outage: Outage
}

export type Fault = AtStep | AtRequest | AtTime

export const faultKinds = [
  "crash",
  "cut",
  "freeze",
  "request lost",
  "response lost",
  "duplicated",
  "delayed",
  "queued",
  "down",
  "busy",
  "slow"
] as const

/** Approximate steps of each kind that a process takes in half of the command phase. */
const stepsMax: Record<Step, number> = { sql: 300, commit: 24, request: 14, response: 14 }
const requestsMax = { POST: 8, GET: 3 }

/** Maximum untargeted faults of a seed, faults in fan-out slices, disordered deliveries, and all faults. */
const scatteredMax = 12
const targetedMax = 4
const disorderedMax = 3
export const faultsMax = scatteredMax + targetedMax + disorderedMax

/** Returns the faults of a seed, at least four. */
export const plan = (seed: number, sites: number): ReadonlyArray<Fault> => {
  const dice = new Dice(seed, "faults")
  const scattered = Array.from({ length: dice.between(4, scatteredMax + 1) }, (): Fault => {
    const kind = dice.weighted<Fault["kind"]>([
      [7, "crash"],
      [2, "cut"],
      [4, "freeze"],
      [4, "request lost"],
      [7, "response lost"],
      [5, "duplicated"],
      [5, "delayed"],
      [6, "queued"],
      [2, "down"],
      [2, "busy"],
      [2, "slow"]
    ])
    const site = dice.between(0, sites)
    const at = dice.between(0, rushMillis)
    const silent = dice.chance(0.5)
    const method: "POST" | "GET" = dice.chance(0.8) ? "POST" : "GET"
    const step = dice.weighted<Step>([[kind === "cut" ? 4 : 2, "sql"], [5, "commit"], [3, "request"], [4, "response"]])
    const side = dice.pick(["before", "after"] as const)
    const atRequest = { site, at, nth: dice.between(1, requestsMax[method]), method }
    switch (kind) {
      case "crash":
      case "freeze":
      case "cut": {
        const at = dice.between(0, rushMillis / 2)
        const of = kind === "cut" && step !== "commit" ? "sql" : step
        return { kind, site, at, step: of, nth: dice.between(1, stepsMax[of]), side, millis: dice.between(500, 20_000) }
      }
      case "request lost":
        return { kind, ...atRequest, networkFault: { _tag: "RequestLost", silent } }
      case "response lost":
        return { kind, ...atRequest, networkFault: { _tag: "ResponseLost", silent } }
      case "duplicated":
        return {
          kind,
          ...atRequest,
          networkFault: { _tag: "Duplicated", millis: dice.pick([10, 1_000, 20_000, 60_000]) }
        }
      case "delayed":
        return {
          kind,
          ...atRequest,
          networkFault: { _tag: "Delayed", millis: dice.pick([1_000, 5_000, 20_000, 60_000]) }
        }
      case "queued":
        return {
          kind,
          ...atRequest,
          method: "POST",
          networkFault: { _tag: "Queued", millis: dice.pick([2_000, 8_000, 30_000]) }
        }
      case "down":
        return { kind, site, at, millis: dice.between(1_000, 60_000), outage: silent ? "silent" : "refuses" }
      case "busy":
        return { kind, site, at, millis: dice.between(1_000, 30_000), outage: { busy: dice.between(1, 30) } }
      case "slow":
        return { kind, site, at, millis: dice.between(2_000, 12_000), outage: "refuses" }
    }
  })
  return [...scattered, ...targeted(seed), ...disordered(seed)]
}

/** Makes deliveries that arrive after later ones about the same object. */
const disordered = (seed: number) => {
  const dice = new Dice(seed, "disordered")
  return Array.from({ length: dice.between(0, disorderedMax + 1) }, (): AtRequest => ({
    kind: "queued",
    site: 0,
    at: dice.between(0, rushMillis / 2),
    nth: dice.between(1, 4),
    method: "POST",
    of: dice.pick(["Undo", "Undo", "Update", "Create", "Block"]),
    networkFault: { _tag: "Queued", millis: dice.pick([2_000, 8_000, 30_000]) }
  }))
}

/** Fails a fan-out slice, or its process, soon after the command that caused it. */
const targeted = (seed: number) => {
  const dice = new Dice(seed, "pointed")
  return Array.from({ length: targetedMax }, (): AtStep => ({
    kind: dice.pick(["cut", "cut", "cut", "crash"]),
    site: 0,
    at: 0,
    step: "commit",
    nth: dice.between(1, 6),
    of: dice.pick([["Publish"], ["Edit", "Delete"], ["Edit"], ["Reblog", "Report", "Favourite", "Unfavourite"]]),
    side: dice.pick(["before", "after"] as const),
    millis: dice.between(500, 5_000)
  }))
}

/** Ends processes during a move or a domain block. */
export const epilogue = (seed: number, sites: number): ReadonlyArray<Fault> => {
  const dice = new Dice(seed, "epilogue's faults")
  return Array.from({ length: dice.between(1, 4) }, (): AtStep => ({
    kind: dice.pick(["cut", "crash", "crash"]),
    site: dice.between(0, sites),
    at: 0,
    step: "commit",
    nth: dice.between(1, 12),
    side: dice.pick(["before", "after"] as const),
    millis: dice.between(500, 5_000)
  }))
}
