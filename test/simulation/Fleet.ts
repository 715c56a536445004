import { type ChildProcess, fork } from "node:child_process"
import { constants, setPriority } from "node:os"
import { fileURLToPath } from "node:url"
import type { Address } from "../support/PostgresServer.ts"
import type { Result } from "./Simulation.ts"

/** What a run is told, in a form that goes to another process. */
export interface Settings {
  /** Several servers that federate, instead of one server's nodes. */
  readonly federation: boolean
  /** A real Postgres, in which transactions overlap; undefined where they never do. */
  readonly postgres?: Address | undefined
  readonly commands: ReadonlyArray<number>
  readonly faults: ReadonlyArray<number>
  /** The number of the mutant that runs in the place of the program. */
  readonly mutant: number | undefined
  /** Whatever the seed: it is about consent, polls and moderators. */
  readonly talks?: true
  readonly logs: boolean
}

export interface Job {
  readonly seed: number
  readonly settings: Settings
}

/** A process that says nothing for that long, in milliseconds, hangs, and so does the seed that it runs. */
const silenceMillisMax = 900_000

/** Seeds that a process runs; what is compiled and planned for the first few serves all that come after. */
const seedsOfProcessMax = 120

/** What Node compiled of the program, so that each process does not do it anew. */
const compiled = new URL("../../node_modules/.cache/node", import.meta.url)

interface Worker {
  readonly child: ChildProcess
  /** It runs the program with bugs in its source, of which a mutant switches one on. */
  readonly planted: boolean
  ran: number
}

/** Processes that run simulations. One that hangs or dies is replaced, and its seed counts as broken. */
export class Fleet {
  private readonly idle: Array<Worker | undefined>
  private readonly waiting: Array<() => void> = []
  private readonly alive = new Set<ChildProcess>()
  private readonly ranIn = new WeakMap<Result, ChildProcess>()

  constructor(processes: number) {
    this.idle = Array.from({ length: processes }, () => undefined)
  }

  /**
   * Runs seeds; `told` hears of each when it is done, not always in order. What happened in those that
   * hold is told then and not kept.
   */
  each(seeds: ReadonlyArray<number>, settings: Settings, told: (result: Result) => void = () => {}) {
    const one = async (seed: number): Promise<Result> => {
      const { log, ...result } = await this.run(seed, settings)
      told({ ...result, log })
      return { ...result, log: result.broken.length === 0 ? [] : log }
    }
    return Promise.all(seeds.map(one))
  }

  async run(seed: number, settings: Settings): Promise<Result> {
    while (this.idle.length === 0) await new Promise<void>((resume) => this.waiting.push(resume))
    return this.runOn(this.worker(settings.mutant !== undefined && !settings.federation), seed, settings)
  }

  /** Runs a seed again in another process than before, when nothing else runs. */
  elsewhere(before: Result, settings: Settings): Promise<Result> {
    const at = this.idle.findIndex((worker) => worker === undefined || worker.child !== this.ranIn.get(before))
    if (at === -1) throw new Error("no other process is idle")
    this.idle.push(...this.idle.splice(at, 1))
    return this.run(before.seed, settings)
  }

  private async runOn(worker: Worker, seed: number, settings: Settings) {
    const { child } = worker
    const result = await ask(child, { seed, settings })
    const over = result.lost || ++worker.ran >= seedsOfProcessMax
    if (over) this.end(child)
    this.idle.push(over ? undefined : worker)
    this.waiting.shift()?.()
    this.ranIn.set(result.result, child)
    return result.result
  }

  close() {
    for (const child of this.alive) child.kill("SIGKILL")
  }

  private worker(planted: boolean): Worker {
    const idle = this.idle.pop()
    if (idle?.planted === planted) return idle
    if (idle !== undefined) this.end(idle.child)
    const options = {
      execArgv: ["--disable-warning=ExperimentalWarning"],
      env: { ...process.env, ["NODE_COMPILE_CACHE"]: fileURLToPath(compiled) }
    }
    const child = fork(new URL("worker.ts", import.meta.url), planted ? ["planted"] : [], options)
    // Its time is its own: what looks at a clock beside it goes first.
    if (child.pid !== undefined) setPriority(child.pid, constants.priority.PRIORITY_BELOW_NORMAL)
    this.alive.add(child)
    return { child, planted, ran: 0 }
  }

  private end(child: ChildProcess) {
    child.kill("SIGKILL")
    this.alive.delete(child)
  }
}

const ask = (child: ChildProcess, job: Job) =>
  new Promise<{ readonly result: Result; readonly lost: boolean }>((resume) => {
    const end = (result: Result, lost: boolean) => {
      clearTimeout(timer)
      child.off("message", onMessage).off("exit", onExit)
      resume({ result, lost })
    }
    const lose = (reason: string) =>
      end({ seed: job.seed, broken: [reason], hash: "", log: [], counts: {}, virtualMillis: 0, cpuMillis: 0 }, true)
    const onMessage = (result: unknown) => {
      if (isResult(result)) end(result, false)
    }
    const onExit = (code: number | null) => lose(`the process ended with ${code}`)
    const timer = setTimeout(() => lose(`the run hangs: nothing for ${silenceMillisMax} ms`), silenceMillisMax)
    child.on("message", onMessage).on("exit", onExit)
    child.send(job)
  })

const isResult = (value: unknown): value is Result => typeof value === "object" && value !== null && "hash" in value
