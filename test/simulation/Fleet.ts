import { type ChildProcess, fork } from "node:child_process"
import { constants, setPriority } from "node:os"
import * as Compiled from "../support/Compiled.ts"
import type { Address } from "../support/PostgresServer.ts"
import type { Result } from "./Simulation.ts"

/** Settings of a run, serialisable for another process. */
export interface Settings {
  /** True for a run of several federating servers instead of one server's nodes. */
  readonly federation: boolean
  /** A real Postgres with overlapping transactions; undefined for runs without overlap. */
  readonly postgres?: Address | undefined
  readonly commands: ReadonlyArray<number>
  readonly faults: ReadonlyArray<number>
  /** Number of the mutant that runs instead of the program. */
  readonly mutant: number | undefined
  /** Enables consent, polls and moderators, regardless of the seed. */
  readonly consents?: true
  /** Enables or disables imports, regardless of the seed. */
  readonly transfers?: boolean
  readonly logs: boolean
  /** Measures what the process keeps after the run. */
  readonly measured?: true
}

export interface Job {
  readonly seed: number
  readonly settings: Settings
}

/**
 * Time without progress of virtual time after which a process counts as hung, and its seed as broken, in milliseconds.
 * Instants take longer on slow machines, but never this long.
 */
const progressMillisMax = 900_000

/** Maximum seeds of a process. Code compiled and plans made for the first seeds serve all later ones. */
const seedsOfProcessMax = 120
/** Memory in bytes above which a process ends after its seed. Federating servers have three databases. */
const memoryBytesMax = { one: 1_000_000_000, federation: 1_400_000_000 }
/** V8 options that release memory early: most of a process's memory is its databases, not the heap. */
const heapOptions = ["--heap-growing-percent=40", "--max-semi-space-size=16"]
/** One arena of malloc: with one per thread, buffers freed by the threads of V8 kept 110 MB. */
const arenas = { ["MALLOC_ARENA_MAX"]: "1" }

/** Content of a process's memory after a full garbage collection. */
export interface Kept {
  /** Machines of earlier runs; one of them keeps its whole run. */
  readonly machines: number
  /** Bytes of the heap, and of buffers outside of it. */
  readonly bytes: number
}

/** Report of a process about a finished seed: the result, and its memory. */
export interface Reply {
  readonly result: Result
  readonly bytes: number
  readonly kept?: Kept | undefined
}

interface Worker {
  readonly child: ChildProcess
  /** True if it runs the program with planted bugs, one of which a mutant switches on. */
  readonly planted: boolean
  /** True once the program is loaded; false if the process ended before. */
  readonly loaded: Promise<boolean>
  ran: number
}

/** Starts a process that runs simulations. */
export const startWorker = (planted: boolean): Worker => {
  const options = {
    execArgv: ["--disable-warning=ExperimentalWarning", ...heapOptions],
    env: { ...process.env, ...arenas, ["NODE_COMPILE_CACHE"]: Compiled.folder }
  }
  const child = fork(new URL("worker.ts", import.meta.url), planted ? ["planted"] : [], options)
  // Virtual time is independent of the load, so work with real clocks gets priority.
  if (child.pid !== undefined) setPriority(child.pid, constants.priority.PRIORITY_BELOW_NORMAL)
  const loaded = new Promise<boolean>((resume) => {
    child.once("message", () => resume(true)).once("exit", () => resume(false))
  })
  return { child, planted, loaded, ran: 0 }
}

/** Processes that run simulations. A process that hangs or dies is replaced, and its seed counts as broken. */
export class Fleet {
  private readonly idle: Array<Worker | undefined>
  private readonly waiting: Array<() => void> = []
  private readonly alive = new Set<ChildProcess>()

  constructor(processes: number) {
    this.idle = Array.from({ length: processes }, () => undefined)
  }

  /** Runs seeds and calls `onResult` with each result, in any order. Drops the logs of seeds that hold. */
  each(jobs: ReadonlyArray<Job>, onResult: (result: Result) => void) {
    const one = async ({ seed, settings }: Job) => {
      const { log, ...result } = await this.run(seed, settings)
      onResult({ ...result, log })
      return { result: { ...result, log: result.broken.length === 0 ? [] : log }, settings }
    }
    return Promise.all(jobs.map(one))
  }

  async run(seed: number, settings: Settings): Promise<Result> {
    while (this.idle.length === 0) await new Promise<void>((resume) => this.waiting.push(resume))
    return this.runOn(this.worker(settings.mutant !== undefined), seed, settings)
  }

  private async runOn(worker: Worker, seed: number, settings: Settings) {
    const { child } = worker
    // The seed is not to blame, and every other seed would fail too.
    if (!(await worker.loaded)) throw new Error("a simulation process failed to load the program; its error is above")
    const result = await ask(child, { seed, settings })
    const bytesMax = settings.federation ? memoryBytesMax.federation : memoryBytesMax.one
    const over = result.lost || ++worker.ran >= seedsOfProcessMax || result.bytes > bytesMax
    if (over) void this.end(child)
    this.idle.push(over ? undefined : worker)
    this.waiting.shift()?.()
    return result.result
  }

  /** Ends all processes and waits for them. */
  async close() {
    await Promise.all([...this.alive].map((child) => this.end(child)))
  }

  private worker(planted: boolean): Worker {
    const idle = this.idle.pop()
    if (idle?.planted === planted) return idle
    if (idle !== undefined) void this.end(idle.child)
    const worker = startWorker(planted)
    this.alive.add(worker.child)
    return worker
  }

  private async end(child: ChildProcess) {
    this.alive.delete(child)
    if (child.exitCode !== null || child.signalCode !== null) return
    const ended = new Promise<void>((resume) => child.once("exit", () => resume()))
    child.kill("SIGKILL")
    await ended
  }
}

/** Runs a job in a process. A process that hangs or dies is lost. */
export const ask = (child: ChildProcess, job: Job) =>
  new Promise<Reply & { readonly lost: boolean }>((resume) => {
    const end = (response: Reply, lost: boolean) => {
      clearTimeout(timer)
      child.off("message", onMessage).off("exit", onExit)
      resume({ ...response, lost })
    }
    const lose = (reason: string) => {
      const nothing = { hash: "", log: [], counts: {}, virtualMillis: 0, cpuMillis: 0 }
      end({ result: { seed: job.seed, broken: [reason], ...nothing }, bytes: 0 }, true)
    }
    const onMessage = (response: unknown) => {
      timer.refresh()
      if (isReply(response)) end(response, false)
    }
    const onExit = (code: number | null) => lose(`the process ended with ${code}`)
    const timer = setTimeout(() => lose(`the run hangs: no progress for ${progressMillisMax} ms`), progressMillisMax)
    child.on("message", onMessage).on("exit", onExit)
    child.send(job)
  })

const isReply = (value: unknown): value is Reply => typeof value === "object" && value !== null && "result" in value
