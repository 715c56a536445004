import { Effect } from "effect"
import { type ChildProcess, spawn } from "node:child_process"
import { fileURLToPath } from "node:url"
import * as Compiled from "./Compiled.ts"

const root = fileURLToPath(new URL("../..", import.meta.url))

export interface Ended {
  readonly code: number | null
  readonly out: string
  readonly err: string
}

/** Time that a request has, in seconds: a busy machine needs more than clients of a real server wait. */
export const responseSeconds = 60

/** Starts an entry point (`main`, `cli`) as a separate process, with only these variables and PATH. */
export const start = (entry: "main" | "cli", args: ReadonlyArray<string>, variables: Record<string, string>) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const child = spawn(process.execPath, [`${root}src/${entry}.ts`, ...args], {
        cwd: root,
        env: {
          PATH: process.env["PATH"],
          NODE_COMPILE_CACHE: Compiled.folder,
          RESPONSE_SECONDS_MAX: String(responseSeconds),
          ...variables
        }
      })
      let [out, err] = ["", ""]
      child.stdout.on("data", (data) => out += data)
      child.stderr.on("data", (data) => err += data)
      const ended = new Promise<Ended>((resolve) => child.once("close", (code) => resolve({ code, out, err })))
      return { child, ended: Effect.promise(() => ended), out: () => out }
    }),
    ({ child, ended }) => Effect.andThen(Effect.sync(() => child.kill("SIGTERM")), ended)
  )

/** Runs an operator command in a separate process until it ends. */
export const cli = (args: ReadonlyArray<string>, variables: Record<string, string>) =>
  Effect.scoped(Effect.flatMap(start("cli", args, variables), ({ ended }) => ended))

/** Completes when the program has printed the text; fails with its output if it ends first. */
export const printed = (program: { readonly child: ChildProcess; readonly out: () => string }, text: string) =>
  Effect.callback<void, Error>((resume) => {
    const look = () => program.out().includes(text) ? resume(Effect.void) : undefined
    program.child.stdout?.on("data", look)
    program.child.once(
      "close",
      () => resume(Effect.fail(new Error(`It ended without saying "${text}": ${program.out()}`)))
    )
    look()
  })
