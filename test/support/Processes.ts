import { existsSync, readFileSync } from "node:fs"

/** Returns true if a process runs. A zombie whose parent is gone counts as ended (proc(5)). */
export const runs = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return !/^\d+ \(.*\) [ZX]/s.test(readFileSync(`/proc/${pid}/stat`, "utf8"))
  } catch (error) {
    // Without `/proc`, as on macOS, the signal decides; with it, the process ended after the signal.
    return error instanceof Error && "code" in error && error.code === "ENOENT" && !existsSync("/proc/self")
  }
}

/** Process id in the lock file of a Postgres folder; undefined without one. */
export const postmasterIn = (folder: string): number | undefined => {
  const file = `${folder}/postmaster.pid`
  return existsSync(file) ? Number.parseInt(readFileSync(file, "utf8"), 10) : undefined
}
