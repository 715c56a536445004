import { NodeServices } from "@effect/platform-node"
import { assert, layer } from "@effect/vitest"
import { Effect, Fiber, FileSystem } from "effect"
import { TestClock } from "effect/testing"
import sharp from "sharp"
import { make } from "../../../src/layers/media/Ffmpeg.ts"
import { unusableReason } from "../../../src/layers/media/InstalledFfmpeg.ts"
import { type Allowance, run } from "../../../src/layers/media/LimitedProcess.ts"
import { typeNamed } from "../../../src/services/media/FileTypes.ts"

const ample: Allowance = { seconds: 60, cpuSeconds: 60, memoryBytes: 2 ** 30, fileBytes: 2 ** 20 }
const shell = (script: string, allowance: Partial<Allowance> = {}) =>
  run([], ["sh", "-c", script], { ...ample, ...allowance })

const isAlive = (pid: number) => {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

/** A script that starts a child process and waits; returns the child's id once it runs. */
const withChild = Effect.fnUntraced(function*() {
  const fs = yield* FileSystem.FileSystem
  const file = yield* fs.makeTempFileScoped()
  const fiber = yield* Effect.forkChild(shell(`sleep 1000 & echo $! > ${file}; wait`))
  const pid = yield* Effect.repeat(Effect.andThen(Effect.yieldNow, fs.readFileString(file)), {
    until: (text) => text.endsWith("\n")
  })
  assert.isTrue(isAlive(Number(pid)))
  return { fiber, pid: Number(pid) }
})

const gone = (pid: number) =>
  Effect.repeat(Effect.promise(() => new Promise(setImmediate)), { until: () => !isAlive(pid) })

const decoder = (script: string) =>
  make(["sh", "-c", script, "sh"]).probe({ path: "/dev/null", type: typeNamed("video/mp4")! })

layer(NodeServices.layer)("row 44, row 45: a tool in a separate process", (it) => {
  it.effect("is stopped after its timeout, with its child processes", () =>
    Effect.gen(function*() {
      const { fiber, pid } = yield* withChild()
      yield* TestClock.adjust("61 seconds")
      assert.deepInclude(yield* Fiber.join(fiber), { code: null, signal: "SIGKILL" })
      yield* gone(pid)
    }))

  it.effect("is stopped when no caller waits for it", () =>
    Effect.gen(function*() {
      const { fiber, pid } = yield* withChild()
      yield* Fiber.interrupt(fiber)
      yield* gone(pid)
    }))

  it.effect("is stopped by the kernel when it exceeds its CPU time, or writes too much; it cannot get more memory", () =>
    Effect.gen(function*() {
      const spins = yield* shell("while :; do :; done", { cpuSeconds: 1 })
      assert.include(["SIGXCPU", "SIGKILL"], spins.signal)
      const fs = yield* FileSystem.FileSystem
      const file = yield* fs.makeTempFileScoped()
      const writes = yield* shell(`exec head -c 3000000 /dev/zero > ${file}`)
      assert.strictEqual(writes.signal, "SIGXFSZ")
      assert.strictEqual(Number((yield* fs.stat(file)).size), ample.fileBytes)
      const grows = `x=$(head -c 100000000 /dev/zero | tr '\\0' a); echo done`
      assert.notInclude((yield* shell(grows, { memoryBytes: 67_108_864 })).out, "done")
      assert.include((yield* shell(grows)).out, "done")
    }))

  it.effect("inherits nothing from the server, has a low priority, and its output is bounded", () =>
    Effect.gen(function*() {
      process.env["MURMURATION_SECRET"] = "told to nobody"
      const { out } = yield* shell("env; nice")
      assert.notInclude(out, "MURMURATION_SECRET")
      assert.isTrue(Number(out.trimEnd().split("\n").at(-1)) >= 10)
      const chatter = yield* shell("head -c 3000000 /dev/zero | tr '\\0' a")
      assert.strictEqual(chatter.out.length, 1_048_576)
    }))

  it.effect("that hangs, or exceeds its limits, has refused the file; one that crashes may be retried", () =>
    Effect.gen(function*() {
      const unreadable = "File type of uploaded media could not be verified"
      const hanging = yield* Effect.forkChild(Effect.flip(decoder("exec sleep 1000")))
      yield* TestClock.adjust("20 seconds")
      assert.deepInclude(yield* Fiber.join(hanging), { _tag: "MediaRefused", text: unreadable })
      assert.deepInclude(yield* Effect.flip(decoder("kill -XCPU $$")), { _tag: "MediaRefused", text: unreadable })
      assert.deepInclude(yield* Effect.flip(decoder("exit 1")), { _tag: "MediaRefused", text: unreadable })
      const crash = yield* Effect.flip(decoder("echo out of bounds >&2; kill -SEGV $$"))
      assert.deepInclude(crash, { _tag: "MediaToolFailed", text: "SIGSEGV: out of bounds\n" })
      assert.deepInclude(yield* Effect.flip(decoder("echo '{\"streams\":7}'")), { _tag: "MediaRefused" })
    }))

  it.effect("must be new enough, and able to write our formats", () =>
    Effect.gen(function*() {
      const encoders = ["libx264", "aac", "libmp3lame", "mjpeg", "apng"].map((name) => ` V..... ${name}   of it`)
      const all = encoders.join("\n")
      for (const version of ["ffmpeg version 5.1.9-0+deb12u1", "ffmpeg version n7.0.2", "ffmpeg version N-117-g1"]) {
        assert.isUndefined(unusableReason(`${version} Copyright`, all), version)
      }
      for (const version of ["ffmpeg version 5.0.3", "ffmpeg version n4.4.2"]) {
        assert.isString(unusableReason(`${version} Copyright`, all), version)
      }
      assert.strictEqual(
        unusableReason("ffmpeg version 7.1", encoders.slice(1).join("\n")),
        "lacks the encoders libx264"
      )
      const [major = 0, minor = 0] = (sharp.versions.vips ?? "").split(".").map(Number)
      assert.isTrue(major > 8 || (major === 8 && minor >= 18), "libvips is as new as the one that was looked at")
      return yield* Effect.void
    }))
})
