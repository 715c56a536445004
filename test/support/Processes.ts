import { readFileSync } from "node:fs"

/** Returns true if a process runs. A zombie whose parent is gone counts as ended (proc(5)). */
export const runs = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return !/^\d+ \(.*\) [ZX]/s.test(readFileSync(`/proc/${pid}/stat`, "utf8"))
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "ENOENT"
  }
}
