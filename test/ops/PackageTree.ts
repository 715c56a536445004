import { Effect, FileSystem } from "effect"
import { spawn } from "node:child_process"
import { fileURLToPath } from "node:url"
import type { Ended } from "../support/Program.ts"

export const root = fileURLToPath(new URL("../..", import.meta.url))

/** Runs a program of the repository to its end; fails with its output unless it succeeds. */
export const succeed = (command: string, args: ReadonlyArray<string>, env: NodeJS.ProcessEnv = process.env) =>
  Effect.callback<string, Error>((resume) => {
    const child = spawn(command, args, { cwd: root, env, stdio: ["ignore", "pipe", "pipe"] })
    let out = ""
    child.stdout.on("data", (data) => out += data)
    child.stderr.on("data", (data) => out += data)
    child.once("error", (error) => resume(Effect.fail(error)))
    child.once(
      "close",
      (code) =>
        resume(
          code === 0 ? Effect.succeed(out) : Effect.fail(new Error(`${command} ${args.join(" ")}: ${code}: ${out}`))
        )
    )
    return Effect.sync(() => child.kill())
  })

/** Builds the tree of a package in a new folder; `report` is the output of its script. */
export const packageTree = Effect.gen(function*() {
  const fs = yield* FileSystem.FileSystem
  const folder = yield* fs.makeTempDirectoryScoped({ prefix: "murmuration-tree-" })
  yield* fs.chmod(folder, 0o755)
  const report = yield* succeed("npm", ["run", "-s", "package:tree", "--", folder])
  return { folder, report, node: `${folder}/node_modules/node/bin/node` }
})

/** Starts a program of a tree with its own Node and only these variables. It is stopped at the end of the scope. */
export const startIn = (folder: string, args: ReadonlyArray<string>, variables: Record<string, string>) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const child = spawn(`${folder}/node_modules/node/bin/node`, args, {
        cwd: folder,
        env: { PATH: "/usr/bin:/bin", ...variables }
      })
      let [out, err] = ["", ""]
      child.stdout.on("data", (data) => out += data)
      child.stderr.on("data", (data) => err += data)
      const ended = new Promise<Ended>((resolve) => child.once("close", (code) => resolve({ code, out, err })))
      return { child, ended: Effect.promise(() => ended), out: () => out }
    }),
    ({ child, ended }) => Effect.andThen(Effect.sync(() => child.kill("SIGTERM")), ended)
  )
