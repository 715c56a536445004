import { NodeServices } from "@effect/platform-node"
import { assert, layer } from "@effect/vitest"
import { Effect, FileSystem } from "effect"
import { execFileSync, spawn } from "node:child_process"
import { fileURLToPath } from "node:url"
import { isDeepStrictEqual } from "node:util"
import { eventually } from "../support/Eventually.ts"
import { runPage } from "../support/Guides.ts"
import { freePort } from "../support/ports.ts"
import { runs } from "../support/Processes.ts"

const root = fileURLToPath(new URL("../..", import.meta.url))
const git = (folder: string, ...args: ReadonlyArray<string>) =>
  execFileSync("git", args, { cwd: folder, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim()

/** Dependencies of a version, without its own number. */
const dependenciesOf = (commit: string): unknown => {
  const { packages } = JSON.parse(git(root, "show", `${commit}:package-lock.json`))
  return { ...packages, "": { ...packages[""], version: undefined } }
}

/**
 * The version before: without the newest migration if its dependencies are those of this one, which are not installed
 * twice; otherwise the first one with these dependencies. Undefined in a copy without a history.
 */
const versionBefore = (): string | undefined => {
  try {
    const migrated = git(root, "log", "-1", "--format=%H", "--diff-filter=A", "--", "migrations")
    const before = git(root, "rev-parse", `${migrated}^`)
    return isDeepStrictEqual(dependenciesOf(before), dependenciesOf("HEAD"))
      ? before
      : git(root, "log", "-1", "--format=%H", "--", "package-lock.json")
  } catch {
    return undefined
  }
}

/** Keeps the output of a started program. */
const outputOf = (child: ReturnType<typeof spawn>) => {
  let text = ""
  for (const stream of [child.stdout, child.stderr]) stream?.on("data", (data) => text += data)
  return () => text
}

/** A folder with a clone of the version before, whose remote has this version, and the server in it. */
const machine = Effect.fnUntraced(function*(before: string) {
  const fs = yield* FileSystem.FileSystem
  const folder = yield* fs.makeTempDirectoryScoped({ prefix: "murmuration-upgrade-" })
  yield* fs.chmod(folder, 0o755)
  const [remote, server, tools] = [`${folder}/remote`, `${folder}/murmuration`, `${folder}/tools`]
  git(folder, "clone", "--quiet", root, remote)
  const now = git(remote, "rev-parse", "HEAD")
  git(remote, "checkout", "--quiet", "-B", "main", before)
  git(folder, "clone", "--quiet", "--branch", "main", remote, server)
  git(remote, "reset", "--quiet", "--hard", now)
  yield* fs.symlink(`${root}/node_modules`, `${server}/node_modules`)
  // Dependencies are installed once, in the repository of the test.
  yield* fs.makeDirectory(tools)
  yield* fs.writeFileString(
    `${tools}/npm`,
    `#!/bin/sh\nif [ "$1" = ci ]; then exit; fi\nPATH=\${PATH#*:}\nexec npm "$@"\n`,
    { mode: 0o755 }
  )
  const port = yield* freePort
  const variables = {
    PATH: `${tools}:${process.env["PATH"]}`,
    PORT: String(port),
    PUBLIC_URL: `http://localhost:${port}`,
    DATA_DIR: `${folder}/data`
  }
  const run = (line: string, more: Record<string, string> = {}) =>
    Effect.callback<string>((resume) => {
      const here = line.replaceAll("/var/backups/", `${folder}/`)
      const child = spawn("/bin/sh", ["-c", here], { cwd: server, env: { ...variables, ...more } })
      const output = outputOf(child)
      child.once("close", (code) => {
        assert.strictEqual(code, 0, `${line}\n${output()}`)
        resume(Effect.succeed(output()))
      })
    })

  /** Starts a server, which later versions succeed; stops the last one at the end of the scope. */
  const start = (more: Record<string, string> = {}) =>
    Effect.acquireRelease(
      Effect.gen(function*() {
        const child = spawn("npm", ["start"], { cwd: server, env: { ...variables, ...more } })
        const output = outputOf(child)
        const successors = () => Array.from(output().matchAll(/Process (\d+) takes over/g), ([, pid]) => Number(pid))
        yield* eventually(Effect.sync(output), (text) => text.includes("Murmuration is at"))
        return { child, output, successors }
      }),
      ({ child, successors }) => {
        const pid = successors().at(-1) ?? child.pid ?? 0
        return Effect.andThen(
          Effect.ignore(Effect.try(() => process.kill(pid, "SIGTERM"))),
          eventually(Effect.sync(() => runs(pid)), (there) => !there)
        )
      }
    )
  /** Restarts a server by the command of the guide; completes when the new process serves. */
  const restart = (running: Effect.Success<ReturnType<typeof start>>) =>
    Effect.gen(function*() {
      const count = running.successors().length + 1
      yield* run("npm run cli -- restart")
      yield* eventually(Effect.sync(running.successors), (pids) => pids.length === count)
      const before = running.successors().at(-2) ?? running.child.pid ?? 0
      yield* eventually(Effect.sync(() => runs(before)), (there) => !there)
    })

  const request = (token: string, path: string, status?: string) =>
    Effect.promise(async () => {
      const response = await fetch(`http://127.0.0.1:${port}/api/v1/statuses${path}`, {
        headers: { authorization: `Bearer ${token}` },
        ...(status === undefined ? {} : { method: "POST", body: new URLSearchParams({ status }) })
      })
      return { status: response.status, id: (await response.json() as { readonly id?: string }).id ?? "" }
    })
  return {
    folder,
    run,
    start,
    restart,
    request,
    checkout: (commit: string) => git(server, "checkout", "--quiet", commit)
  }
})

layer(NodeServices.layer, { excludeTestServices: true })("docs/guide/upgrade.md", (it) => {
  it.effect(
    "leads from the version before to this one, back at once, and back by the backup; posts remain",
    () =>
      Effect.gen(function*() {
        const before = versionBefore()
        if (before === undefined) return yield* Effect.logWarning("This copy has no history with a version before.")
        const { checkout, folder, request, restart, run, start } = yield* machine(before)
        const { newer, old, token } = yield* Effect.scoped(Effect.gen(function*() {
          const server = yield* start()
          yield* run("npm run cli -- account create ada --email ada@example.org --confirmed")
          const out = yield* run("npm run --silent cli -- token create ada --scopes 'read write'")
          const token = /[\w-]{40,}/.exec(out)?.[0] ?? ""
          const old = (yield* request(token, "", "From the version before")).id
          yield* runPage("upgrade.md", (line) => line.endsWith(" restart") ? restart(server) : run(line))
          assert.strictEqual((yield* request(token, `/${old}`)).status, 200, "the old post after the upgrade")
          const newer = (yield* request(token, "", "From the new version")).id
          yield* Effect.sync(() => checkout(before))
          yield* run("npm ci")
          yield* restart(server)
          for (const id of [old, newer]) {
            assert.strictEqual((yield* request(token, `/${id}`)).status, 200, "after the way back")
          }
          assert.strictEqual((yield* request(token, "", "On the version before again")).status, 200)
          return { newer, old, token }
        }))
        const elsewhere = { DATA_DIR: `${folder}/restored` }
        yield* run("npm run cli -- restore /var/backups/before-upgrade.tar", elsewhere)
        yield* Effect.scoped(Effect.gen(function*() {
          yield* start(elsewhere)
          assert.strictEqual((yield* request(token, `/${old}`)).status, 200, "the old post after the restore")
          assert.strictEqual((yield* request(token, `/${newer}`)).status, 404)
        }))
      }).pipe(Effect.scoped)
  )
})
