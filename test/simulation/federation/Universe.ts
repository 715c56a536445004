import { Context, References } from "effect"
import { Machine } from "../Machine.ts"
import { Dice } from "../Seeded.ts"
import type { VirtualTime } from "../VirtualTime.ts"
import type { Process, Site } from "./SimulatedInstance.ts"
import { Web } from "./Web.ts"

/** What a mutant of the program does otherwise, to show that the simulation finds the bug. */
export interface Mutation {
  /** Another text in the place of a statement's. */
  readonly sql?: (text: string) => string
}

/** What the servers of a run have in common: time, the network between them, and a record of what happened. */
export class Universe {
  readonly time: VirtualTime
  readonly seed: number
  readonly base: Context.Context<never>
  readonly mutation: Mutation
  readonly web: Web
  /** The machine of clients and of whoever looks on: it never fails. */
  readonly outside: Machine
  readonly sites: Array<Site> = []
  /** What happened, in words, for people. */
  readonly log: Array<string> = []
  readonly counts = new Map<string, number>()
  /** What clients met that no fault excuses. */
  readonly wrong: Array<string> = []
  /** Called when a machine has done a command in a transaction that is not committed yet. */
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

  /** The end of a server's process, as by kill -9: nothing of it runs any more, and its connections end. */
  crash(site: Site, process: Process) {
    const { machine } = process
    if (machine.dead) return
    machine.kill()
    site.session.release(machine)
    this.web.hangUp(machine)
    if (site.process === process) site.process = undefined
  }
}
