import { spawnSync } from "node:child_process"
import { readdirSync, readFileSync } from "node:fs"

/** Kernel statistics of one process; times in milliseconds. */
interface Stat {
  readonly pid: number
  readonly parent: number
  readonly own: number
  readonly reaped: number
}

const ticksPerSecond = Number(spawnSync("getconf", ["CLK_TCK"], { encoding: "utf8" }).stdout) || 100

/**
 * CPU time of a process's current threads, in milliseconds. More precise than the process's own figure, which is in
 * whole ticks, but without ended threads. Zero if the kernel does not report it.
 */
const threadsMillis = (pid: number): number => {
  let nanos = 0
  try {
    for (const thread of readdirSync(`/proc/${pid}/task`)) {
      nanos += Number.parseInt(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, "utf8"), 10)
    }
  } catch {
    // The thread has no such file, or has ended.
    return 0
  }
  return nanos / 1e6
}

const stats = (): Map<number, Stat> => {
  const found = new Map<number, Stat>()
  for (const name of readdirSync("/proc")) {
    const pid = Number(name)
    if (!Number.isInteger(pid)) continue
    try {
      const text = readFileSync(`/proc/${pid}/stat`, "utf8")
      // The program's name may contain spaces; the state follows its closing bracket.
      const fields = text.slice(text.lastIndexOf(")") + 2).split(" ").map(Number)
      const at = (number: number) => fields[number - 3] ?? 0
      const millis = (ticks: number) => ticks * 1000 / ticksPerSecond
      found.set(pid, { pid, parent: at(4), own: millis(at(14) + at(15)), reaped: millis(at(16) + at(17)) })
    } catch {
      // The process has ended; its time is among its parent's reaped children.
    }
  }
  return found
}

/** Root processes to measure, each with its descendants, except those that are roots of their own. */
export interface Watched {
  readonly node: number
  readonly postgres: number
  readonly redis?: number | undefined
}

/** CPU milliseconds, user and system. */
export interface Spent {
  readonly node: number
  readonly postgres: number
  readonly redis: number
}

const spentBy = (found: ReadonlyMap<number, Stat>, root: number | undefined, ownRoots: ReadonlySet<number>) => {
  if (root === undefined) return 0
  let millis = 0
  const waiting = [root]
  for (let pid = waiting.pop(); pid !== undefined; pid = waiting.pop()) {
    const stat = found.get(pid)
    if (stat === undefined) continue
    // The process's figure and the sum of its threads are both lower bounds of the real usage.
    millis += Math.max(stat.own, threadsMillis(pid)) + stat.reaped
    for (const child of found.values()) if (child.parent === pid && !ownRoots.has(child.pid)) waiting.push(child.pid)
  }
  return millis
}

/** CPU that the processes have used since they started. */
export const spent = ({ node, postgres, redis }: Watched): Spent => {
  const found = stats()
  const ownRoots = new Set([node, postgres, redis ?? 0])
  return {
    node: spentBy(found, node, ownRoots),
    postgres: spentBy(found, postgres, ownRoots),
    redis: spentBy(found, redis, ownRoots)
  }
}

/** Usage between two readings, for each of `operations`. */
export const between = (before: Spent, after: Spent, operations: number): Spent => ({
  node: (after.node - before.node) / operations,
  postgres: (after.postgres - before.postgres) / operations,
  redis: (after.redis - before.redis) / operations
})

export const total = ({ node, postgres, redis }: Spent): number => node + postgres + redis

/** Resident memory of a process, with the pages that it shares, in megabytes. */
export const megabytes = (pid: number): number => {
  const line = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))
  return Number(line?.[1] ?? 0) / 1024
}
