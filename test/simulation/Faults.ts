import { Effect, Fiber } from "effect"
import type { AtStep, AtTime, Fault } from "./FaultPlan.ts"
import type { Machine } from "./Machine.ts"
import { endStuck, type Node } from "./Node.ts"
import type { Message, SocketFault } from "./Sockets.ts"
import * as TargetedFaults from "./TargetedFaults.ts"
import type { Step, World } from "./World.ts"

const words = {
  sql: "its SQL",
  commit: "a commit",
  write: "a single-statement write",
  effect: "a commit's effects",
  feeds: "a feed write",
  bus: "a bus message",
  network: "a network message",
  files: "storing a file"
}

/**
 * Injects the planned faults. `nodes` are the live nodes; `restart` restarts one that ended. Returns an effect that
 * ends when all faults are over, and cancels those that did not happen.
 */
export const injectFaults = Effect.fnUntraced(function*(
  world: World,
  faults: ReadonlyArray<Fault>,
  nodes: Array<Node>,
  restart: (port: number) => Effect.Effect<Node>,
  flush: Effect.Effect<void>
) {
  const began = world.time.now
  /** Faults that wait for their step, with the number of steps left. */
  const waiting = new Map(faults.flatMap((fault) => "step" in fault ? [[fault, fault.nth] as const] : []))
  const targeted = new TargetedFaults.Aim()
  const running: Array<Fiber.Fiber<void>> = []
  const context = yield* Effect.context()
  const fork = (effect: Effect.Effect<void>) => running.push(Effect.runForkWith(context)(effect))

  const record = (kind: Fault["kind"], text: string) => {
    world.count(kind)
    world.say(text)
  }
  const restartLater = (ended: Node, millis: number) => {
    if (nodes.includes(ended)) nodes.splice(nodes.indexOf(ended), 1)
    fork(Effect.gen(function*() {
      yield* Effect.sleep(millis)
      const node = yield* restart(ended.port)
      nodes.push(node)
      world.say(`${node.machine.name} replaces ${ended.machine.name}`)
    }))
  }

  const inject = (fault: AtStep, victim: Node, where: string) => {
    const { machine } = victim
    if (fault.of !== undefined) world.count("targeted")
    switch (fault.kind) {
      case "crash":
        record("crash", `${machine.name} dies ${where}`)
        world.crash(machine)
        return restartLater(victim, fault.millis)
      case "freeze":
        record("freeze", `${machine.name} freezes for ${fault.millis} ms ${where}`)
        machine.freeze(fault.millis)
        return fork(Effect.sleep(fault.millis))
      case "cut":
        return record("cut", `${machine.name} loses a connection to the database ${where}`)
    }
  }

  /** Counts a step, and removes and returns the fault that is due at it. */
  const due = (machine: Machine, step: Step) => {
    let found: { readonly fault: AtStep; readonly victim: Node } | undefined
    for (const [fault, left] of waiting) {
      const victim = nodes.find((node) => node.machine === machine)
      const aimed = fault.of === undefined ? victim?.port === fault.port : targeted.isAt(fault, machine)
      if (victim === undefined || !aimed || fault.step !== step || world.time.now < began + fault.at) continue
      waiting.set(fault, left - 1)
      if (left <= 1) found ??= { fault, victim }
    }
    if (found !== undefined) waiting.delete(found.fault)
    return found
  }

  endStuck(world, nodes, (node) => restartLater(node, 1_000))
  world.step = (machine, step, side) =>
    Effect.suspend(() => {
      const found = machine.dead ? undefined : due(machine, step)
      if (found !== undefined) inject(found.fault, found.victim, `${side} ${words[step]}`)
      return machine.dead ? Effect.never : found === undefined ? Effect.void : Effect.yieldNow
    })
  world.performs = (machine, commandId) => {
    const begun = [...waiting.keys()].filter(({ at }) => world.time.now >= began + at)
    targeted.performed(begun, machine, commandId)
  }
  world.session.socketFault = ({ commits, machine, text, writes }: Message): SocketFault | undefined => {
    const atCommit = commits ? due(machine, "commit") : undefined
    const atWrite = writes ? due(machine, "write") : undefined
    const found = atCommit ?? atWrite ?? due(machine, "sql")
    if (found === undefined) return undefined
    const where = text.replaceAll(/\s+/g, " ").slice(0, 60)
    return {
      side: found.fault.side,
      act: () => inject(found.fault, found.victim, `${found.fault.side} ${where}`),
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
        record(kind, `${name} is stopped`)
        nodes.splice(nodes.indexOf(victim), 1)
        yield* Effect.timeoutOption(victim.stop, "10 seconds")
        world.crash(victim.machine)
        return restartLater(victim, millis)
      }
      case "refuse": {
        record(kind, `the database is down for ${millis} ms`)
        world.session.refuse(world.outside)
        yield* Effect.sleep(millis)
        return world.session.resume()
      }
      case "flush":
        record(kind, "all feeds are lost")
        return yield* flush
      case "partition":
        record(kind, `connections to ${name} break`)
        return world.network.breakConnections(victim.machine, false)
      case "slow": {
        record(kind, `messages from and to ${name} take ${millis} ms`)
        world.network.slow.set(victim.machine, millis)
        yield* Effect.sleep(millis * 2)
        world.network.slow.delete(victim.machine)
      }
    }
  })
  for (const fault of faults) if (!("step" in fault)) fork(atTime(fault))

  /** Ends when every active fault is over, and cancels the others. */
  return Effect.gen(function*() {
    for (const { kind, of } of waiting.keys()) world.count(`${of === undefined ? kind : "targeted"} missed`)
    waiting.clear()
    for (let at = 0; at < running.length; at++) yield* Fiber.join(running[at]!)
    world.step = () => Effect.void
    world.session.socketFault = () => undefined
  })
})
