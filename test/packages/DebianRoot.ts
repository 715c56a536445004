import { Context, Effect, FileSystem, Layer } from "effect"
import { spawn } from "node:child_process"
import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"

const repository = fileURLToPath(new URL("../..", import.meta.url))

/** Packages of the root besides Debian's required ones. */
const packages = ["adduser", "ca-certificates", "dbus", "libstdc++6", "systemd", "systemd-sysv"]

interface Ended {
  readonly code: number | null
  readonly out: string
}

interface Options {
  readonly cwd?: string
  readonly env?: Record<string, string>
}

/** Starts a program; `ended` completes with its exit code and all its output. It is stopped at the end of the scope. */
export const start = (command: string, args: ReadonlyArray<string>, options: Options = {}) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const child = spawn(command, args, {
        cwd: options.cwd ?? repository,
        env: { ...process.env, ...options.env },
        stdio: ["ignore", "pipe", "pipe"]
      })
      let out = ""
      child.stdout.on("data", (data) => out += data)
      child.stderr.on("data", (data) => out += data)
      const closed = new Promise<Ended>((resolve) => {
        child.once("error", (error) => resolve({ code: null, out: error.message }))
        child.once("close", (code) => resolve({ code, out }))
      })
      return { child, ended: Effect.promise(() => closed), out: () => out }
    }),
    ({ child, ended }) => Effect.andThen(Effect.sync(() => child.kill("SIGTERM")), ended)
  )

/** Runs a program to its end; returns its exit code and output. */
const run = (command: string, args: ReadonlyArray<string>, options?: Options) =>
  Effect.scoped(Effect.flatMap(start(command, args, options), ({ ended }) => ended))

/** Runs a program of this machine in the repository; fails with its output unless it succeeds. */
export const succeed = Effect.fnUntraced(function*(command: string, ...args: ReadonlyArray<string>) {
  const { code, out } = yield* run(command, args)
  if (code !== 0) return yield* Effect.fail(new Error(`${command} ${args.join(" ")}: ${code}: ${out}`))
  return out
})

const codename = /^VERSION_CODENAME=(\w+)$/m.exec(readFileSync("/etc/os-release", "utf8"))?.[1] ?? "stable"

/** Mounts a file system in the root for the lifetime of the scope. */
const mounted = (type: string, folder: string) =>
  Effect.acquireRelease(
    succeed("mount", "-t", type, type, folder),
    () => Effect.ignore(succeed("umount", "-l", folder))
  )

/** A new Debian of this machine's release in a folder. Its programs run in a chroot with this machine's network. */
export class DebianRoot extends Context.Service<DebianRoot, {
  readonly folder: string
  /** Runs a shell command in the root to its end; fails with its output unless it succeeds. */
  readonly sh: (script: string, env?: Record<string, string>) => Effect.Effect<string, Error>
  /** Runs a shell command in the root to its end, and returns its exit code and output. */
  readonly tried: (script: string, env?: Record<string, string>) => Effect.Effect<Ended>
  /** Starts a shell command in the root. */
  readonly start: (script: string) => ReturnType<typeof start>
}>()("murmuration/test/packages/DebianRoot") {
  static readonly layer = Layer.effect(
    DebianRoot,
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const folder = yield* fs.makeTempDirectoryScoped({ prefix: "murmuration-root-" })
      yield* fs.chmod(folder, 0o755)
      yield* succeed("mmdebstrap", "--variant=minbase", `--include=${packages.join(",")}`, codename, folder)
      const plain = { PATH: "/usr/sbin:/usr/bin:/sbin:/bin", LC_ALL: "C.UTF-8", DEBIAN_FRONTEND: "noninteractive" }
      const tried = (script: string, env: Record<string, string> = {}) =>
        run("chroot", [folder, "/bin/sh", "-c", script], { env: { ...plain, ...env } })
      return DebianRoot.of({
        folder,
        tried,
        sh: (script, env) =>
          Effect.flatMap(
            tried(script, env),
            ({ code, out }) => code === 0 ? Effect.succeed(out) : Effect.fail(new Error(`${script}: ${code}: ${out}`))
          ),
        start: (script) => start("chroot", [folder, "/bin/sh", "-c", script], { env: plain })
      })
    })
  )

  /** Mounts the file systems that a server needs in the root; a container mounts its own. */
  static readonly layerMounted = Layer.effectDiscard(Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const { folder } = yield* DebianRoot
    yield* mounted("proc", `${folder}/proc`)
    yield* fs.makeDirectory(`${folder}/dev/shm`, { recursive: true })
    yield* mounted("tmpfs", `${folder}/dev/shm`)
  })).pipe(Layer.provideMerge(DebianRoot.layer))
}
