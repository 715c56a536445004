import { Effect } from "effect"
import { spawn } from "node:child_process"
import { MediaToolFailed } from "../../services/media/MediaTools.ts"

/** Limits of one run: seconds of wall time and of CPU, bytes of memory and of each written file. */
export interface Allowance {
  readonly seconds: number
  readonly cpuSeconds: number
  readonly memoryBytes: number
  readonly fileBytes: number
}

/** Maximum bytes of output that are read; the rest is dropped. */
const outputBytesMax = 1_048_576
const complaintCharactersMax = 2_000

export interface Ended {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly out: string
  readonly complaint: string
}

/** Sets the limits (POSIX `ulimit`: seconds, KiB, blocks of 512 bytes) and executes the tool at a low priority. */
const limiting =
  `ulimit -c 0; ulimit -t "$1"; ulimit -v "$2" 2>/dev/null; ulimit -f "$3"; shift 3; exec nice -n 10 "$@"`

/**
 * Runs a tool as a separate process with limits, no input and a minimal environment. It is killed with its child
 * processes on a timeout or interruption.
 */
export const run = (
  prefix: ReadonlyArray<string>,
  command: ReadonlyArray<string>,
  { cpuSeconds, fileBytes, memoryBytes, seconds }: Allowance
) =>
  Effect.callback<Ended, MediaToolFailed>((resume) => {
    const limits = [cpuSeconds, Math.floor(memoryBytes / 1024), Math.ceil(fileBytes / 512)].map(String)
    const child = spawn("/bin/sh", ["-c", limiting, "sh", ...limits, ...prefix, ...command], {
      env: { PATH: "/usr/local/bin:/usr/bin:/bin:/opt/homebrew/bin", LC_ALL: "C" },
      stdio: ["ignore", "pipe", "pipe"],
      detached: true
    })
    const out: Array<Buffer> = []
    let [size, complaint] = [0, ""]
    child.stdout.on("data", (data: Buffer) => {
      if (size < outputBytesMax) out.push(data.subarray(0, outputBytesMax - size))
      size += data.length
    })
    child.stderr.on("data", (data: Buffer) => complaint = (complaint + data.toString()).slice(-complaintCharactersMax))
    child.once("error", (error) => resume(Effect.fail(new MediaToolFailed({ text: error.message }))))
    child.once("close", (code, signal) => {
      resume(Effect.succeed({ code, signal, out: Buffer.concat(out).toString(), complaint }))
    })
    return Effect.sync(() => {
      // Kills the whole process group: a tool may have started others.
      if (child.pid !== undefined && child.exitCode === null && child.signalCode === null) {
        try {
          process.kill(-child.pid, "SIGKILL")
        } catch {
          child.kill("SIGKILL")
        }
      }
    })
  }).pipe(
    Effect.timeoutOrElse({
      duration: `${seconds} seconds`,
      orElse: () => Effect.succeed<Ended>({ code: null, signal: "SIGKILL", out: "", complaint: "over its time" })
    })
  )
