import { Context, References } from "effect"
import { Machine } from "../Machine.ts"
import { Dice } from "../Seeded.ts"
import type { VirtualTime } from "../VirtualTime.ts"
import type { Process, SimulatedServer } from "./SimulatedInstance.ts"
import { Web } from "./Web.ts"

/** Deliberate bug in the program, to show that the simulation finds it. */
export interface Mutation {
  /** Rewrites the text of statements. */
  readonly sql?: (text: string) => string
}

/** State that the servers of a run share: time, the network, and a record of events. */
export class Universe {
  readonly time: VirtualTime
  readonly seed: number
  readonly base: Context.Context<never>
  readonly mutation: Mutation
  readonly web: Web
  /** Machine of clients and observers: it never fails. */
  readonly outside: Machine
  readonly sites: Array<SimulatedServer> = []
  /** Readable events. */
  readonly log: Array<string> = []
  readonly counts = new Map<string, number>()
  /** Client errors that no fault explains. */
  readonly wrong: Array<string> = []
  /** Called when a machine has run a command in a transaction that is not yet committed. */
  performs: (machine: Machine, commandId: string) => void = () => {}

  constructor(time: VirtualTime, seed: number, mutation: Mutation, logLevel: "None" | "Debug") {
    this.mutation = mutation
    this.time = time
    this.seed = seed
    this.base = Context.make(References.MinimumLogLevel, logLevel)
    this.web = new Web(time, new Dice(seed, "web"))
    this.outside = new Machine(time, this.base, seed, "outside")
  }

  say(text: string) {
    this.log.push(`${String(this.time.elapsed).padStart(7)} ms  ${text}`)
  }

  count(what: string) {
    this.counts.set(what, (this.counts.get(what) ?? 0) + 1)
  }

  /** Kills a server's process like kill -9: its tasks never run again, and its connections break. */
  crash(site: SimulatedServer, process: Process) {
    const { machine } = process
    if (machine.dead) return
    machine.kill()
    site.session.release(machine)
    this.web.disconnect(machine)
    if (site.process === process) site.process = undefined
  }
}
