import { Effect } from "effect"
import { type Ffmpeg, make, probing } from "./Ffmpeg.ts"
import { run } from "./LimitedProcess.ts"

/** The oldest release whose decoders are still mended (safety row 45), and what it must have been built with. */
const oldest = [5, 1] as const
const encodersNeeded = ["libx264", "aac", "libmp3lame", "mjpeg", "apng"]

const outputOf = (command: ReadonlyArray<string>) =>
  run([], command, probing).pipe(
    Effect.map(({ code, out }) => code === 0 ? out : undefined),
    Effect.orElseSucceed(() => undefined)
  )

/** Why this ffmpeg is of no use, by what it says of itself; undefined where it is. Builds without a number are taken for new. */
export const shortcomingOf = (version: string, encoders: string): string | undefined => {
  const [, major, minor] = /^ffmpeg version n?(\d+)\.(\d+)/.exec(version) ?? []
  if (major !== undefined && (Number(major) - oldest[0] || Number(minor) - oldest[1]) < 0) {
    return `is ${major}.${minor}, and ${oldest.join(".")} is the oldest that is safe`
  }
  const names = new Set(encoders.split("\n").map((line) => line.trim().split(/\s+/)[1]))
  const missing = encodersNeeded.filter((name) => !names.has(name))
  return missing.length === 0 ? undefined : `has no encoder ${missing.join(", ")}`
}

/** Cut off from the network, and ended by the kernel where this process is gone; both where the system can do it. */
const sandbox = Effect.gen(function*() {
  let prefix: ReadonlyArray<string> = []
  for (const part of [["unshare", "--map-root-user", "--net"], ["setpriv", "--pdeathsig", "KILL"]]) {
    if ((yield* outputOf([...prefix, ...part, "true"])) !== undefined) prefix = prefix.concat(part)
  }
  return prefix
})

const look = Effect.gen(function*() {
  const version = yield* outputOf(["ffmpeg", "-version"])
  const encoders = yield* outputOf(["ffmpeg", "-hide_banner", "-encoders"])
  if (version === undefined || encoders === undefined || (yield* outputOf(["ffprobe", "-version"])) === undefined) {
    yield* Effect.logInfo("There is no ffmpeg on this machine, so pictures are all the media that it takes.")
    return undefined
  }
  const shortcoming = shortcomingOf(version, encoders)
  if (shortcoming !== undefined) {
    yield* Effect.logWarning(`ffmpeg ${shortcoming}, so pictures are all the media that this machine takes.`)
    return undefined
  }
  const found: Ffmpeg = make(yield* sandbox)
  return found
})

/**
 * The found programs, kept: looking takes five processes, and a machine has the same programs as long as this process
 * runs.
 */
let known: { readonly ffmpeg: Ffmpeg | undefined } | undefined

/** ffmpeg and ffprobe, where this machine has them and they are of use. */
export const find = Effect.suspend(() =>
  known === undefined
    ? Effect.tap(look, (ffmpeg) => Effect.sync(() => known = { ffmpeg }))
    : Effect.succeed(known.ffmpeg)
)
