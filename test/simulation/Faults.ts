import { Effect, Fiber } from "effect"
import type { AtStep, AtTime, Fault } from "./FaultPlan.ts"
import type { Machine } from "./Machine.ts"
import { endStuck, type Node } from "./Node.ts"
import * as Pointed from "./Pointed.ts"
import type { Message, SocketFault } from "./Sockets.ts"
import type { Step, World } from "./World.ts"

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

  /** Counts a step, and removes and returns the fault that is due at it. */
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
  world.session.mishap = ({ commits, machine, text, writes }: Message): SocketFault | undefined => {
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

  /** Ends when every active fault is over, and cancels the others. */
  return Effect.gen(function*() {
    for (const { kind, of } of waiting.keys()) world.count(`${of === undefined ? kind : "pointed"} missed`)
    waiting.clear()
    for (let at = 0; at < running.length; at++) yield* Fiber.join(running[at]!)
    world.step = () => Effect.void
    world.session.mishap = () => undefined
  })
})
