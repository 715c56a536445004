import { readdirSync, readFileSync } from "node:fs"

/** CPU time since the start of each part, in milliseconds; `idle` is the unused time of all processors. */
export interface Cpu {
  readonly nodes: number
  readonly postgres: number
  readonly redis: number
  /** CPU time of this process: clients, faults and report. */
  readonly load: number
  /** CPU time of all other programs on the machine. */
  readonly others: number
  readonly idle: number
}

/** Length of a processor tick in `/proc`. */
const tickMillis = 10

const read = (path: string) => {
  try {
    return readFileSync(path, "utf8")
  } catch {
    return ""
  }
}

/** Reads a process's times, including those of its reaped children. */
const statOf = (pid: number | string) => {
  const stat = read(`/proc/${pid}/stat`)
  // The name is in brackets and may contain anything.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ").map(Number)
  const at = (field: number) => fields[field - 3] ?? 0
  return { parent: at(4), own: (at(14) + at(15)) * tickMillis, reaped: (at(16) + at(17)) * tickMillis }
}

/** Measures the CPU time of the cluster's parts. A killed process counts with its last reading. */
export class Meter {
  private readonly ended = { nodes: 0, postgres: 0, redis: 0 }
  private readonly seen = {
    nodes: new Map<number, number>(),
    postgres: new Map<number, number>(),
    redis: new Map<number, number>()
  }
  private readonly pids: () => {
    readonly nodes: ReadonlyArray<number>
    readonly postgres: number
    readonly redis: number
  }

  constructor(pids: Meter["pids"]) {
    this.pids = pids
  }

  read(): Cpu {
    const { nodes, postgres, redis } = this.pids()
    const used = {
      nodes: this.count("nodes", nodes, (pid) => statOf(pid).own),
      postgres: this.count("postgres", [postgres], withChildren),
      redis: this.count("redis", [redis], (pid) => statOf(pid).own)
    }
    const { system, user } = process.cpuUsage()
    const load = (user + system) / 1_000
    const [, ...ticks] = (read("/proc/stat").split("\n", 1)[0] ?? "").split(/\s+/).map((count) =>
      Number(count) * tickMillis
    )
    // user, nice, system, idle, iowait, irq, softirq, steal; guests are in the first two.
    const [idle, all] = [(ticks[3] ?? 0) + (ticks[4] ?? 0), ticks.slice(0, 8).reduce((sum, count) => sum + count, 0)]
    return { ...used, load, others: all - idle - used.nodes - used.postgres - used.redis - load, idle }
  }

  private count(part: keyof Meter["ended"], pids: ReadonlyArray<number>, of: (pid: number) => number) {
    const seen = this.seen[part]
    for (const [pid, used] of seen) {
      if (pids.includes(pid)) continue
      this.ended[part] += used
      seen.delete(pid)
    }
    for (const pid of pids) seen.set(pid, Math.max(seen.get(pid) ?? 0, of(pid)))
    return [...seen.values()].reduce((sum, used) => sum + used, this.ended[part])
  }
}

/** CPU time of a process with all its children, including those that ended. */
const withChildren = (pid: number) => {
  const children = readdirSync("/proc").filter((name) => /^\d+$/.test(name)).map(statOf).filter(({ parent }) =>
    parent === pid
  )
  const { reaped, own } = statOf(pid)
  return children.reduce((sum, child) => sum + child.own, own + reaped)
}

/** Returns the usage between two readings, in hundredths of a processor, and as text; for idle time, the minimum. */
export const between = (from: Cpu, to: Cpu, millis: number) => {
  const share = (part: keyof Cpu) => Math.max(0, Math.round((to[part] - from[part]) / millis * 100))
  return {
    nodes: share("nodes"),
    postgres: share("postgres"),
    redis: share("redis"),
    load: share("load"),
    others: share("others"),
    idle: share("idle")
  }
}
