import { type ChildProcess, fork } from "node:child_process"
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
  readonly logs: boolean
}

export interface Job {
  readonly seed: number
  readonly settings: Settings
}

/** A process that says nothing for that long, in milliseconds, hangs, and so does the seed that it runs. */
const silenceMillisMax = 900_000

/** Seeds that a process runs; its Postgres takes a little more memory each time and gives none back. */
const seedsOfProcessMax = 60

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

  readonly processes: number

  constructor(processes: number) {
    this.processes = processes
    this.idle = Array.from({ length: processes }, () => undefined)
  }

  /**
   * Runs `runs` seeds from `first` on; `told` hears of each when it is done, not always in order. What happened in those that
   * hold is told then and not kept.
   */
  each(first: number, runs: number, settings: Settings, told: (result: Result) => void = () => {}) {
    const seeds = Array.from({ length: runs }, (_, n) => first + n)
    const one = async (seed: number): Promise<Result> => {
      const { log, ...result } = await this.run(seed, settings)
      told({ ...result, log })
      return { ...result, log: result.broken.length === 0 ? [] : log }
    }
    return Promise.all(seeds.map(one))
  }

  /** Runs one seed in all processes at once. */
  everywhere(seed: number, settings: Settings) {
    return Promise.all(Array.from({ length: this.processes }, () => this.run(seed, settings)))
  }

  async run(seed: number, settings: Settings): Promise<Result> {
    while (this.idle.length === 0) await new Promise<void>((resume) => this.waiting.push(resume))
    const worker = this.worker(settings.mutant !== undefined && !settings.federation)
    const { child } = worker
    const result = await ask(child, { seed, settings })
    const over = result.lost || ++worker.ran >= seedsOfProcessMax
    if (over) this.end(child)
    this.idle.push(over ? undefined : worker)
    this.waiting.shift()?.()
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
