import { Effect } from "effect"
import { readFileSync } from "node:fs"

/** Linux only (proc(5)): the fields after the name, which is in parentheses; the first one is the state. */
const fieldsOf = (pid: number): ReadonlyArray<string> => {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "utf8")
    return text.slice(text.lastIndexOf(")") + 2).split(" ")
  } catch {
    return []
  }
}

/**
 * Returns true if a process runs. One that ended stays in the process table until its parent reaps it, which a
 * container's first process may never do.
 */
export const alive = (pid: number) =>
  Effect.sync(() => {
    try {
      process.kill(pid, 0)
    } catch (error) {
      return error instanceof Error && "code" in error && error.code === "EPERM"
    }
    return fieldsOf(pid)[0] !== "Z"
  })

/**
 * Returns the start of a process in ticks since the boot, which tells it from a later one with its number; empty where
 * the system does not say it.
 */
export const startOf = (pid: number): string => fieldsOf(pid)[19] ?? ""
