import { Effect } from "effect"
import { readdirSync, readFileSync } from "node:fs"

const parentOf = (pid: number) => {
  try {
    // The name is in brackets and may contain anything; the parent is the second field after it.
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8")
    return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1])
  } catch {
    return undefined
  }
}

const children = (pid: number) =>
  readdirSync("/proc").map(Number).filter((each) => Number.isInteger(each) && parentOf(each) === pid)

const signal = (pid: number, name: NodeJS.Signals) => {
  try {
    process.kill(pid, name)
  } catch {
    // The process has already ended.
  }
}

/**
 * Runs `work` while a process and its children are stopped, as on a hanging machine; they always continue afterwards.
 */
export const whileFrozen = <A, E, R>(pid: number, work: Effect.Effect<A, E, R>) => {
  const frozen = new Set<number>()
  return Effect.acquireUseRelease(
    Effect.sync(() => {
      // The parent first, so that it starts no new children.
      for (const each of [pid, ...children(pid)]) {
        signal(each, "SIGSTOP")
        frozen.add(each)
      }
    }),
    () => work,
    () =>
      Effect.sync(() => {
        for (const each of frozen) signal(each, "SIGCONT")
      })
  )
}
