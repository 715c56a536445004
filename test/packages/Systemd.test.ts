import { NodeServices } from "@effect/platform-node"
import { assert, layer } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { spawn } from "node:child_process"
import { readFileSync } from "node:fs"
import { setTimeout as sleep } from "node:timers/promises"
import { eventually } from "../support/Eventually.ts"
import { runPage } from "../support/Guides.ts"
import { freePort } from "../support/ports.ts"
import { DebianRoot, succeed } from "./DebianRoot.ts"

/** Maximum score of `systemd-analyze security`, from 0 (best) to 10, times ten. */
const exposureMax = 20

/** A booted Debian with the package, whose server listens on `port`. */
class Booted extends Context.Service<Booted, {
  readonly port: number
  /** Runs a shell command in it; fails with its output unless it succeeds. */
  readonly sh: (script: string) => Effect.Effect<string, Error>
  readonly newer: string
}>()("murmuration/test/packages/Booted") {
  static readonly layer = Layer.effect(
    Booted,
    Effect.gen(function*() {
      const { folder, sh } = yield* DebianRoot
      const build = (version: string) =>
        Effect.map(
          succeed("ops/debian/build", "--version", version, "--compress", "none", `${folder}/packages`),
          (out) => out.trim().split("\n").at(-1)?.slice(folder.length) ?? ""
        )
      const [older, newer] = [yield* build("0.0.1"), yield* build("0.0.2")]
      const port = yield* freePort
      yield* sh(`dpkg --install ${older} && systemctl disable murmuration`)
      yield* sh(`echo PORT=${port} >> /etc/murmuration/murmuration.env`)
      const container = yield* Effect.acquireRelease(
        Effect.sync(() =>
          spawn("systemd-nspawn", ["--directory", folder, "--boot", "--register=no", "--keep-unit"], {
            stdio: "ignore"
          })
        ),
        (child) =>
          Effect.callback<void>((resume) => {
            if (child.exitCode !== null) return resume(Effect.void)
            // A shutdown: the programs of a killed container may go on for a while, and write to the root.
            child.once("close", () => resume(Effect.void))
            child.kill("SIGTERM")
          })
      )
      /** The root's first process is the last child; the one before it only prepares the root. */
      const inside = (script: string) =>
        Effect.suspend(() => {
          const children = readFileSync(`/proc/${container.pid}/task/${container.pid}/children`, "utf8").trim()
          const first = children.split(" ").at(-1) ?? ""
          return succeed("nsenter", "--target", first, "--all", "/bin/sh", "-c", script)
        })
      yield* eventually(
        Effect.result(inside("systemctl is-system-running | grep -E 'running|degraded'")),
        ({ _tag }) => _tag === "Success"
      )
      return { port, sh: inside, newer }
    })
  )
}

layer(Booted.layer.pipe(Layer.provideMerge(DebianRoot.layer), Layer.provideMerge(NodeServices.layer)), {
  excludeTestServices: true,
  timeout: "15 minutes"
})("the package with systemd", (it) => {
  const property = (name: string) =>
    Effect.flatMap(
      Booted,
      ({ sh }) => Effect.map(sh(`systemctl show --value --property ${name} murmuration`), (text) => text.trim())
    )

  it.effect("its units are valid, and confine the server", () =>
    Effect.gen(function*() {
      const { sh } = yield* Booted
      const units = ["murmuration.service", "murmuration-backup.service", "murmuration-base-copy.service"]
      assert.strictEqual(
        yield* sh(
          `systemd-analyze verify ${units.join(" ")} murmuration-backup.timer murmuration-base-copy.timer 2>&1`
        ),
        ""
      )
      for (const unit of units) {
        yield* sh(`systemd-analyze security --threshold=${exposureMax} ${unit}`)
      }
    }))

  it.effect("starts when the server is ready, with the commands of the guide, and its backup service writes a backup", () =>
    Effect.gen(function*() {
      const { port, sh } = yield* Booted
      yield* runPage("install.md", sh)
      assert.strictEqual((yield* Effect.promise(() => fetch(`http://127.0.0.1:${port}/health`))).status, 200)
      assert.include(yield* sh("murmuration account show ada"), "ada@example.org")
      assert.include(yield* sh("systemctl list-timers"), "murmuration-backup.timer")
      yield* sh("systemctl start murmuration-backup")
      assert.match(yield* sh("ls /var/backups/murmuration"), /^murmuration-.*\.tar\n$/)
    }))

  it.effect("F268: an upgrade restarts it without refusing a request, and systemd follows the new process", () =>
    Effect.gen(function*() {
      const { newer, port, sh } = yield* Booted
      const before = yield* property("MainPID")
      const failed: Array<string> = []
      let asked = 0
      const asker = { stopped: false }
      const asking = Effect.promise(async () => {
        while (!asker.stopped) {
          asked++
          try {
            const { status } = await fetch(`http://127.0.0.1:${port}/health`)
            if (status !== 200) failed.push(String(status))
          } catch (error) {
            failed.push(String(error))
          }
          await sleep(20)
        }
      })
      const upgraded = Effect.gen(function*() {
        yield* sh(`dpkg --install ${newer}`)
        const after = yield* eventually(property("MainPID"), (pid) => pid !== before)
        yield* eventually(Effect.result(sh(`test ! -e /proc/${before}`)), ({ _tag }) => _tag === "Success")
        asker.stopped = true
        return after
      })
      const [after] = yield* Effect.all([upgraded, asking], { concurrency: "unbounded" })
      assert.deepStrictEqual(failed, [])
      assert.isAbove(asked, 10)
      assert.strictEqual(yield* property("ActiveState"), "active")
      assert.strictEqual(yield* property("NRestarts"), "0")
      assert.include(yield* sh(`tr '\\0' ' ' < /proc/${after}/cmdline`), "--successor")
    }))

  it.effect("F268: it stops cleanly after that, and is restarted if it is killed", () =>
    Effect.gen(function*() {
      const { port, sh } = yield* Booted
      yield* sh("systemctl stop murmuration")
      assert.strictEqual(yield* property("Result"), "success")
      assert.strictEqual((yield* sh("grep -l node /proc/[0-9]*/comm || true")).trim(), "")
      yield* sh("systemctl start murmuration")
      const killed = yield* property("MainPID")
      yield* sh(`kill -9 ${killed}`)
      yield* eventually(property("NRestarts"), (restarts) => restarts === "1")
      yield* eventually(property("ActiveState"), (state) => state === "active")
      assert.strictEqual((yield* Effect.promise(() => fetch(`http://127.0.0.1:${port}/health`))).status, 200)
      yield* sh("systemctl stop murmuration")
    }))
})
