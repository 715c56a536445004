import { Effect, Fiber } from "effect"
import type { Machine } from "../Machine.ts"
import type { Message, SocketFault } from "../Sockets.ts"
import type { Side } from "../World.ts"
import type { Exchange } from "./Exchange.ts"
import type { AtRequest, AtStep, AtTime, Fault, Step } from "./FaultPlan.ts"
import * as SimulatedInstance from "./SimulatedInstance.ts"
import type { Universe } from "./Universe.ts"

const words = { sql: "its SQL", commit: "a commit", request: "a request", response: "a response" }

/** Milliseconds until a frozen process is replaced, and from its thaw until it ends. */
const replacedMillis = 2_000
const staleProcessMillis = 4_000

/**
 * Injects the planned faults; returns an effect that ends when they are over, and cancels those that did not happen.
 */
export const injectFaults = Effect.fnUntraced(function*(universe: Universe, faults: ReadonlyArray<Fault>) {
  const { sites, time, web } = universe
  const began = time.now
  /** Faults that wait for their step or request, with the number left until then. */
  const waiting = new Map(faults.flatMap((fault) => "nth" in fault ? [[fault, fault.nth] as const] : []))
  const running: Array<Fiber.Fiber<void>> = []
  const context = yield* Effect.context()
  const fork = (effect: Effect.Effect<void>) => running.push(Effect.runForkWith(context)(effect))
  const record = (kind: Fault["kind"], text: string) => {
    universe.count(kind)
    universe.say(text)
  }

  /** Counts a step or request, and removes and returns the fault that is due. */
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
  /** Machine that runs the command for which a fault waits. */
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

  const inject = (fault: AtStep, where: string) => {
    const site = siteOf(fault)
    const process = site?.process
    if (site === undefined || process === undefined) return
    if (fault.kind === "cut") {
      return record("cut", `${process.machine.name} loses a connection to the database ${where}`)
    }
    if (fault.kind === "freeze") {
      record("freeze", `${process.machine.name} freezes ${where}`)
      site.process = undefined
      process.machine.freeze(replacedMillis + fault.millis / 2)
      return fork(Effect.gen(function*() {
        yield* Effect.sleep(replacedMillis)
        universe.say(`${(yield* SimulatedInstance.start(universe, site)).machine.name} starts as its replacement`)
        yield* Effect.sleep(fault.millis / 2 + staleProcessMillis)
        universe.say(`${process.machine.name} ends`)
        universe.crash(site, process)
      }))
    }
    record("crash", `${process.machine.name} dies ${where}`)
    universe.crash(site, process)
    fork(Effect.gen(function*() {
      yield* Effect.sleep(fault.millis)
      universe.say(`${(yield* SimulatedInstance.start(universe, site)).machine.name} starts`)
    }))
  }

  web.step = (machine, step, side) =>
    Effect.suspend(() => {
      const fault = machine.dead ? undefined : dueAtStep(machine, step, side)
      if (fault !== undefined) inject(fault, `${side} ${words[step]}`)
      return machine.dead ? Effect.never : fault === undefined ? Effect.void : Effect.yieldNow
    })
  const socketFault = ({ commits, machine, text }: Message): SocketFault | undefined => {
    const fault = (commits ? dueAtStep(machine, "commit") : undefined) ?? dueAtStep(machine, "sql")
    if (fault === undefined) return undefined
    const where = `${fault.side} ${text.replaceAll(/\s+/g, " ").slice(0, 60)}`
    return { side: fault.side, act: () => inject(fault, where), breaks: fault.kind !== "freeze" }
  }
  for (const { session } of sites) session.socketFault = socketFault
  web.networkFault = ({ method, text, to, url }: Exchange) => {
    const fault = due((fault): fault is AtRequest =>
      "networkFault" in fault && fault.method === method &&
      (fault.of === undefined ? sites[fault.site]?.host === to : text.includes(`"type":"${fault.of}"`))
    )
    if (fault === undefined) return undefined
    record(fault.kind, `${method} ${url.href} is ${fault.kind} ${JSON.stringify(fault.networkFault)}`)
    return fault.networkFault
  }

  const atTime = Effect.fnUntraced(function*({ at, kind, millis, outage, site }: AtTime) {
    yield* Effect.sleep(at)
    const host = sites[site]?.host ?? ""
    record(kind, `${host} is ${kind} ${kind === "slow" ? "" : JSON.stringify(outage)} for ${millis} ms`)
    if (kind === "slow") web.slow.set(host, millis)
    else web.outages.set(host, outage)
    yield* Effect.sleep(millis * (kind === "slow" ? 3 : 1))
    if (kind === "slow") web.slow.delete(host)
    else web.outages.delete(host)
  })
  for (const fault of faults) if ("outage" in fault) fork(atTime(fault))

  return Effect.gen(function*() {
    for (const { kind } of waiting.keys()) universe.count(`${kind} missed`)
    waiting.clear()
    universe.performs = () => {}
    for (let at = 0; at < running.length; at++) yield* Fiber.join(running[at]!)
  })
})
