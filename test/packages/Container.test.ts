import { NodeServices } from "@effect/platform-node"
import { assert, layer } from "@effect/vitest"
import { Context, Effect, FileSystem, Layer } from "effect"
import { readFileSync } from "node:fs"
import { eventually } from "../support/Eventually.ts"
import { freePort } from "../support/ports.ts"
import { printed } from "../support/Program.ts"
import { readContainerfile } from "./Containerfile.ts"
import { DebianRoot, start, succeed } from "./DebianRoot.ts"

const image = readContainerfile("ops/container/Containerfile")
const [uid = "", gid = ""] = image.user.split(":")

const path = "PATH=/usr/local/bin:/usr/bin:/bin"
const entering = ["--mount", "--pid", "--root", "--wd", "--setuid", uid, "--setgid", gid]

/**
 * Runs a command like an engine runs a container with `--read-only --cap-drop=ALL --security-opt=no-new-privileges`: as
 * the first process of its own process and mount namespaces. The root is read-only, except the volume.
 */
const contained = (root: string, volume: string, env: ReadonlyArray<string>, command: ReadonlyArray<string>) =>
  [
    "unshare",
    "--mount",
    "--pid",
    "--fork",
    "--kill-child",
    "/bin/sh",
    "-ec",
    `mount --bind ${root} ${root}
    mount --bind ${volume} ${root}${image.volume}
    mount -t proc proc ${root}/proc
    mkdir -p ${root}/dev/shm && mount -t tmpfs tmpfs ${root}/dev/shm
    mount -o remount,ro,bind ${root}
    exec chroot ${root} setpriv --reuid=${uid} --regid=${gid} --clear-groups --no-new-privs --bounding-set=-all \
      --inh-caps=-all env -i ${path} "$@"`,
    "sh",
    ...env,
    ...command
  ] as const

/** A running container of the image, which is built step by step. */
class Container extends Context.Service<Container, {
  readonly port: number
  readonly output: () => string
  /** Process id on the host of the container's first process. */
  readonly first: Effect.Effect<string>
  /** Completes with the exit code of the container. */
  readonly ended: Effect.Effect<number | null>
  /** Runs a command in the container, like `podman exec`. */
  readonly exec: (...command: ReadonlyArray<string>) => Effect.Effect<string, Error>
}>()("murmuration/test/packages/Container") {
  static readonly layer = Layer.effect(
    Container,
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const { folder, sh } = yield* DebianRoot
      const context = yield* fs.makeTempDirectoryScoped({ prefix: "murmuration-context-" })
      yield* succeed("ops/container/build", "--context", context)
      for (const step of image.steps) {
        if ("run" in step) {
          yield* sh(step.run)
          continue
        }
        for (const source of step.copy) {
          // A folder's contents are copied; a file keeps its name.
          const to = step.to.endsWith("/") ? `${folder}${step.to}` : `${folder}${step.to}/`
          yield* succeed("mkdir", "-p", to)
          yield* succeed(
            "cp",
            "-a",
            "--no-preserve=ownership",
            `${context}/${source}${step.to.endsWith("/") ? "" : "/."}`,
            to
          )
        }
      }
      const volume = yield* fs.makeTempDirectoryScoped({ prefix: "murmuration-volume-" })
      yield* succeed("chown", `${uid}:${gid}`, volume)
      const port = yield* freePort
      const env = [...image.env.filter((one) => !one.startsWith("PORT=")), `PORT=${port}`]
      const [program, ...args] = contained(folder, volume, env, image.command)
      const running = yield* start(program, args)
      yield* printed({ child: running.child, out: running.out }, "Murmuration is at")
      const first = Effect.sync(() =>
        readFileSync(`/proc/${running.child.pid}/task/${running.child.pid}/children`, "utf8").trim()
      )
      return {
        port,
        output: running.out,
        first,
        ended: Effect.map(running.ended, ({ code }) => code),
        exec: (...command) =>
          Effect.flatMap(
            first,
            (pid) => succeed("nsenter", "--target", pid, ...entering, "env", "-i", path, ...env, ...command)
          )
      }
    })
  )
}

layer(Container.layer.pipe(Layer.provideMerge(DebianRoot.layer), Layer.provideMerge(NodeServices.layer)), {
  excludeTestServices: true,
  timeout: "15 minutes"
})("the steps of the Containerfile", (it) => {
  const healthy = Effect.flatMap(
    Container,
    ({ port }) => Effect.promise(async () => (await fetch(`http://127.0.0.1:${port}/health`)).status)
  )

  it.effect("start with the Debian of this test, and end as an unprivileged user", () =>
    Effect.gen(function*() {
      const { sh } = yield* DebianRoot
      const release = (yield* sh(". /etc/os-release && echo $VERSION_CODENAME")).trim()
      assert.strictEqual(image.from, `docker.io/library/debian:${release}-slim`)
      assert.isAbove(Number(uid), 0)
      assert.strictEqual((yield* sh(`id -un ${uid}`)).trim(), "murmuration")
    }))

  it.effect("serve on a read-only root with one volume, with a health check and commands", () =>
    Effect.gen(function*() {
      const { exec } = yield* Container
      assert.strictEqual(yield* healthy, 200)
      yield* exec(...image.healthcheck)
      const refused = yield* Effect.flip(exec("touch", "/usr/lib/murmuration/file"))
      assert.include(refused.message, "Read-only file system")
      yield* exec("murmuration", "account", "create", "ada", "--email", "ada@example.org", "--confirmed")
      assert.include(yield* exec("murmuration", "account", "show", "ada"), "ada@example.org")
      assert.include(yield* exec("sh", "-c", "tr '\\0' ' ' < /proc/1/cmdline"), "/usr/local/bin/init")
    }))

  it.effect("F268: keep the first process at a restart, and end with code 0 when they are stopped", () =>
    Effect.gen(function*() {
      const { ended, exec, first, output } = yield* Container
      const before = yield* first
      for (const count of [1, 2]) {
        yield* exec("murmuration", "restart")
        yield* eventually(Effect.sync(output), (text) => text.split("takes over").length > count)
        yield* eventually(Effect.sync(output), (text) => text.split("Murmuration is at").length > count + 1)
      }
      assert.strictEqual(yield* first, before)
      assert.strictEqual(yield* healthy, 200)
      assert.include(yield* exec("murmuration", "account", "show", "ada"), "ada@example.org")
      yield* eventually(
        exec("sh", "-c", "grep -l '^State:.*zombie' /proc/[0-9]*/status || true"),
        (zombies) => zombies.trim() === ""
      )
      process.kill(Number(before), "SIGTERM")
      assert.strictEqual(yield* ended, 0)
    }))
})
