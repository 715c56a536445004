import { Effect, Fiber } from "effect"
import type { Command } from "../../../src/actors/account/Protocol.ts"
import type { Machine } from "../Machine.ts"
import { Dice } from "../Seeded.ts"
import type { Message, Mishap } from "../Sockets.ts"
import type { Side } from "../World.ts"
import { rushMillis } from "./Clients.ts"
import type { Exchange, Fate } from "./Exchange.ts"
import * as SimulatedInstance from "./SimulatedInstance.ts"
import type { Universe } from "./Universe.ts"
import type { Outage } from "./Web.ts"

/** Where a server's process can end: it sends SQL, commits, asks another server, or answers one. */
type Step = "sql" | "commit" | "asks" | "answers"

/** The `nth` step of that kind from `at` milliseconds on; it is back after `millis`. */
interface AtStep {
  readonly kind: "crash" | "cut" | "freeze"
  readonly site: number
  readonly at: number
  readonly step: Step
  readonly nth: number
  /** Steps count from a command of this kind on, its own commit first; at whatever server that is done. */
  readonly of?: ReadonlyArray<Command["_tag"]>
  readonly side: Side
  readonly millis: number
}

/** What the network does to the `nth` request to the host from `at` milliseconds on. */
interface AtRequest {
  readonly kind: "lost" | "unheard" | "twice" | "late" | "queued"
  readonly site: number
  readonly at: number
  readonly nth: number
  /** Of deliveries or of other requests. */
  readonly method: "POST" | "GET"
  readonly fate: Fate
}

/** How a host is from `at` milliseconds on, for `millis`. */
interface AtTime {
  readonly kind: "away" | "busy" | "slow"
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
  "lost",
  "unheard",
  "twice",
  "late",
  "queued",
  "away",
  "busy",
  "slow"
] as const

/** About how many steps of a kind a process takes in half of the time in which commands come. */
const stepsMax: Record<Step, number> = { sql: 300, commit: 24, asks: 14, answers: 14 }
const requestsMax = { POST: 8, GET: 3 }

const words = { sql: "its SQL", commit: "a commit", asks: "it asks", answers: "it answers" }

/** Faults that a seed may have anywhere, those that strike where something is told in slices, and all. */
const scatteredMax = 12
const pointedMax = 4
export const faultsMax = scatteredMax + pointedMax

/** Others begin in the place of a process that stands still within so many milliseconds, and it ends so long after it moves. */
const replacedMillis = 2_000
const afterlifeMillis = 4_000

/** The faults of a seed, four at least. */
export const plan = (seed: number, sites: number): ReadonlyArray<Fault> => {
  const dice = new Dice(seed, "faults")
  const scattered = Array.from({ length: dice.between(4, scatteredMax + 1) }, (): Fault => {
    const kind = dice.weighted<Fault["kind"]>([
      [7, "crash"],
      [2, "cut"],
      [4, "freeze"],
      [4, "lost"],
      [7, "unheard"],
      [5, "twice"],
      [5, "late"],
      [6, "queued"],
      [2, "away"],
      [2, "busy"],
      [2, "slow"]
    ])
    const site = dice.between(0, sites)
    const at = dice.between(0, rushMillis)
    const silent = dice.chance(0.5)
    const method: "POST" | "GET" = dice.chance(0.8) ? "POST" : "GET"
    const step = dice.weighted<Step>([[kind === "cut" ? 4 : 2, "sql"], [5, "commit"], [3, "asks"], [4, "answers"]])
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
      case "lost":
        return { kind, ...atRequest, fate: { _tag: "Lost", silent } }
      case "unheard":
        return { kind, ...atRequest, fate: { _tag: "Unheard", silent } }
      case "twice":
        return { kind, ...atRequest, fate: { _tag: "Twice", millis: dice.pick([10, 1_000, 20_000, 60_000]) } }
      case "late":
        return { kind, ...atRequest, fate: { _tag: "Late", millis: dice.pick([1_000, 5_000, 20_000, 60_000]) } }
      case "queued":
        return {
          kind,
          ...atRequest,
          method: "POST",
          fate: { _tag: "Queued", millis: dice.pick([2_000, 8_000, 30_000]) }
        }
      case "away":
        return { kind, site, at, millis: dice.between(1_000, 60_000), outage: silent ? "silent" : "refuses" }
      case "busy":
        return { kind, site, at, millis: dice.between(1_000, 30_000), outage: { busy: dice.between(1, 30) } }
      case "slow":
        return { kind, site, at, millis: dice.between(2_000, 12_000), outage: "refuses" }
    }
  })
  return [...scattered, ...pointed(seed)]
}

/** A slice of what is told to many fails, or the process ends, soon after the command that it comes of. */
const pointed = (seed: number) => {
  const dice = new Dice(seed, "pointed")
  return Array.from({ length: pointedMax }, (): AtStep => ({
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

/** Processes end while somebody moves or blocks a server. */
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

/** Lets the planned faults happen; answers an effect that ends when they are over, and calls off those that did not come. */
export const unleash = Effect.fnUntraced(function*(universe: Universe, faults: ReadonlyArray<Fault>) {
  const { sites, time, web } = universe
  const began = time.now
  /** Faults that wait for their step or request, and how many are left until then. */
  const waiting = new Map(faults.flatMap((fault) => "nth" in fault ? [[fault, fault.nth] as const] : []))
  const running: Array<Fiber.Fiber<void>> = []
  const context = yield* Effect.context()
  const later = (effect: Effect.Effect<void>) => running.push(Effect.runForkWith(context)(effect))
  const happens = (kind: Fault["kind"], text: string) => {
    universe.count(kind)
    universe.say(text)
  }

  /** Counts what `is` is about, and takes the fault that waited for it. */
  const due = <F extends AtStep | AtRequest>(is: (fault: AtStep | AtRequest) => fault is F): F | undefined => {
    let found: F | undefined
    for (const [fault, left] of waiting) {
      if (!is(fault) || time.now < began + fault.at) continue
      waiting.set(fault, left - 1)
      if (left <= 1) found ??= fault
    }
    if (found !== undefined) waiting.delete(found)
    return found
  }
  /** Which machine does the command that a fault waits for. */
  const aimed = new Map<AtStep, Machine>()
  universe.performs = (machine, commandId) => {
    for (const fault of waiting.keys()) {
      if (!("step" in fault) || aimed.has(fault)) continue
      if (fault.of?.some((tag) => commandId.startsWith(`${tag}:`)) === true) aimed.set(fault, machine)
    }
  }
  const siteOf = (fault: AtStep) =>
    fault.of === undefined ? sites[fault.site] : sites.find(({ process }) => process?.machine === aimed.get(fault))
  const dueAtStep = (machine: Machine, step: Step, side?: Side) =>
    due((fault): fault is AtStep =>
      "step" in fault && fault.step === step && siteOf(fault)?.process?.machine === machine &&
      (side === undefined || fault.side === side)
    )

  const strike = (fault: AtStep, where: string) => {
    const site = siteOf(fault)
    const process = site?.process
    if (site === undefined || process === undefined) return
    if (fault.kind === "cut") {
      return happens("cut", `${process.machine.name} loses a connection to the database ${where}`)
    }
    if (fault.kind === "freeze") {
      happens("freeze", `${process.machine.name} stands still ${where}`)
      site.process = undefined
      process.machine.freeze(replacedMillis + fault.millis / 2)
      return later(Effect.gen(function*() {
        yield* Effect.sleep(replacedMillis)
        universe.say(`${(yield* SimulatedInstance.start(universe, site)).machine.name} starts beside it`)
        yield* Effect.sleep(fault.millis / 2 + afterlifeMillis)
        universe.say(`${process.machine.name} ends at last`)
        universe.crash(site, process)
      }))
    }
    happens("crash", `${process.machine.name} dies ${where}`)
    universe.crash(site, process)
    later(Effect.gen(function*() {
      yield* Effect.sleep(fault.millis)
      universe.say(`${(yield* SimulatedInstance.start(universe, site)).machine.name} starts`)
    }))
  }

  web.step = (machine, step, side) =>
    Effect.suspend(() => {
      const fault = machine.dead ? undefined : dueAtStep(machine, step, side)
      if (fault !== undefined) strike(fault, `${side} ${words[step]}`)
      return machine.dead ? Effect.never : fault === undefined ? Effect.void : Effect.yieldNow
    })
  const mishap = ({ commits, machine, text }: Message): Mishap | undefined => {
    const fault = (commits ? dueAtStep(machine, "commit") : undefined) ?? dueAtStep(machine, "sql")
    if (fault === undefined) return undefined
    const where = `${fault.side} ${text.replaceAll(/\s+/g, " ").slice(0, 60)}`
    return { side: fault.side, act: () => strike(fault, where), breaks: fault.kind !== "freeze" }
  }
  for (const { session } of sites) session.mishap = mishap
  web.fate = ({ method, to, url }: Exchange) => {
    const fault = due((fault): fault is AtRequest =>
      "fate" in fault && fault.method === method && sites[fault.site]?.host === to
    )
    if (fault === undefined) return undefined
    happens(fault.kind, `${method} ${url.href} is ${fault.kind} ${JSON.stringify(fault.fate)}`)
    return fault.fate
  }

  const atTime = Effect.fnUntraced(function*({ at, kind, millis, outage, site }: AtTime) {
    yield* Effect.sleep(at)
    const host = sites[site]?.host ?? ""
    happens(kind, `${host} is ${kind} ${kind === "slow" ? "" : JSON.stringify(outage)} for ${millis} ms`)
    if (kind === "slow") web.slow.set(host, millis)
    else web.outages.set(host, outage)
    yield* Effect.sleep(millis * (kind === "slow" ? 3 : 1))
    if (kind === "slow") web.slow.delete(host)
    else web.outages.delete(host)
  })
  for (const fault of faults) if ("outage" in fault) later(atTime(fault))

  return Effect.gen(function*() {
    for (const { kind } of waiting.keys()) universe.count(`${kind} missed`)
    waiting.clear()
    universe.performs = () => {}
    for (let at = 0; at < running.length; at++) yield* Fiber.join(running[at]!)
  })
})
