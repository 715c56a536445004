import { readFileSync } from "node:fs"

/** Whether a process runs. One whose parent is gone may stay in the table after its end, as nobody asks for it (proc(5)). */
export const runs = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return !/^\d+ \(.*\) [ZX]/s.test(readFileSync(`/proc/${pid}/stat`, "utf8"))
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "ENOENT"
  }
}
