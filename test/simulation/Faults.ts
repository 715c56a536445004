import { Effect, Fiber } from "effect"
import type { Command } from "../../src/actors/account/Protocol.ts"
import { staleMillis } from "../../src/services/media/MediaJobs.ts"
import * as Drawing from "./Drawing.ts"
import type { Machine } from "./Machine.ts"
import { endStuck, type Node } from "./Node.ts"
import * as Pointed from "./Pointed.ts"
import { Dice } from "./Seeded.ts"
import type { Message, Mishap } from "./Sockets.ts"
import { hasMedia, isCalm, type Side, type Step, type World } from "./World.ts"

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
interface AtTime {
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

const words = {
  sql: "its SQL",
  commit: "a commit",
  write: "it writes by one statement",
  effect: "what follows a commit",
  feeds: "it writes to feeds",
  bus: "it tells the bus",
  network: "it sends",
  files: "it stores a file"
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

/**
 * Lets the planned faults happen. `nodes` holds who is alive; `restart` brings back the one that ended. Answers an
 * effect that ends when all faults are over, and calls off those that did not come.
 */
export const unleash = Effect.fnUntraced(function*(
  world: World,
  faults: ReadonlyArray<Fault>,
  nodes: Array<Node>,
  restart: (port: number) => Effect.Effect<Node>,
  flush: Effect.Effect<void>
) {
  const began = world.time.now
  /** Faults that wait for their step, and how many steps are left until then. */
  const waiting = new Map(faults.flatMap((fault) => "step" in fault ? [[fault, fault.nth] as const] : []))
  const pointed = new Pointed.Aim()
  const running: Array<Fiber.Fiber<void>> = []
  const context = yield* Effect.context()
  const later = (effect: Effect.Effect<void>) => running.push(Effect.runForkWith(context)(effect))

  const happens = (kind: Fault["kind"], text: string) => {
    world.count(kind)
    world.say(text)
  }
  const comeBack = (ended: Node, millis: number) => {
    if (nodes.includes(ended)) nodes.splice(nodes.indexOf(ended), 1)
    later(Effect.gen(function*() {
      yield* Effect.sleep(millis)
      const node = yield* restart(ended.port)
      nodes.push(node)
      world.say(`${node.machine.name} starts in the place of ${ended.machine.name}`)
    }))
  }

  const strike = (fault: AtStep, victim: Node, where: string) => {
    const { machine } = victim
    if (fault.of !== undefined) world.count("pointed")
    switch (fault.kind) {
      case "crash":
        happens("crash", `${machine.name} dies ${where}`)
        world.crash(machine)
        return comeBack(victim, fault.millis)
      case "freeze":
        happens("freeze", `${machine.name} stands still for ${fault.millis} ms ${where}`)
        machine.freeze(fault.millis)
        return later(Effect.sleep(fault.millis))
      case "cut":
        return happens("cut", `${machine.name} loses a connection to the database ${where}`)
    }
  }

  /** Counts a step, and takes the fault that waited for it. */
  const due = (machine: Machine, step: Step) => {
    let found: { readonly fault: AtStep; readonly victim: Node } | undefined
    for (const [fault, left] of waiting) {
      const victim = nodes.find((node) => node.machine === machine)
      const aimed = fault.of === undefined ? victim?.port === fault.port : pointed.isAt(fault, machine)
      if (victim === undefined || !aimed || fault.step !== step || world.time.now < began + fault.at) continue
      waiting.set(fault, left - 1)
      if (left <= 1) found ??= { fault, victim }
    }
    if (found !== undefined) waiting.delete(found.fault)
    return found
  }

  endStuck(world, nodes, (node) => comeBack(node, 1_000))
  world.step = (machine, step, side) =>
    Effect.suspend(() => {
      const found = machine.dead ? undefined : due(machine, step)
      if (found !== undefined) strike(found.fault, found.victim, `${side} ${words[step]}`)
      return machine.dead ? Effect.never : found === undefined ? Effect.void : Effect.yieldNow
    })
  world.performs = (machine, commandId) => pointed.performed(waiting.keys(), machine, commandId)
  world.session.mishap = ({ commits, machine, text, writes }: Message): Mishap | undefined => {
    const atCommit = commits ? due(machine, "commit") : undefined
    const atWrite = writes ? due(machine, "write") : undefined
    const found = atCommit ?? atWrite ?? due(machine, "sql")
    if (found === undefined) return undefined
    const where = text.replaceAll(/\s+/g, " ").slice(0, 60)
    return {
      side: found.fault.side,
      act: () => strike(found.fault, found.victim, `${found.fault.side} ${where}`),
      breaks: found.fault.kind !== "freeze"
    }
  }

  const atTime = Effect.fnUntraced(function*({ at, kind, millis, port }: AtTime) {
    yield* Effect.sleep(at)
    const victim = nodes.find((node) => node.port === port)
    if (victim === undefined) return world.count(`${kind} missed`)
    const { name } = victim.machine
    switch (kind) {
      case "stop": {
        happens(kind, `${name} is asked to end`)
        nodes.splice(nodes.indexOf(victim), 1)
        yield* Effect.timeoutOption(victim.stop, "10 seconds")
        world.crash(victim.machine)
        return comeBack(victim, millis)
      }
      case "refuse": {
        happens(kind, `the database is away for ${millis} ms`)
        world.session.refuse(world.outside)
        yield* Effect.sleep(millis)
        return world.session.resume()
      }
      case "flush":
        happens(kind, "the store of feeds loses everything")
        return yield* flush
      case "partition":
        happens(kind, `connections to ${name} break`)
        return world.network.breakConnections(victim.machine, false)
      case "slow": {
        happens(kind, `messages from and to ${name} take ${millis} ms`)
        world.network.slow.set(victim.machine, millis)
        yield* Effect.sleep(millis * 2)
        world.network.slow.delete(victim.machine)
      }
    }
  })
  for (const fault of faults) if (!("step" in fault)) later(atTime(fault))

  /** Ends when every fault is over; what did not happen yet does not happen any more. */
  return Effect.gen(function*() {
    for (const { kind, of } of waiting.keys()) world.count(`${of === undefined ? kind : "pointed"} missed`)
    waiting.clear()
    for (let at = 0; at < running.length; at++) yield* Fiber.join(running[at]!)
    world.step = () => Effect.void
    world.session.mishap = () => undefined
  })
})
