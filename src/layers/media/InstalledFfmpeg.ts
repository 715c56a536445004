import { Effect } from "effect"
import { type Ffmpeg, make, probing } from "./Ffmpeg.ts"
import { run } from "./LimitedProcess.ts"

/** Oldest release whose decoders still get fixes (safety row 45), and the encoders it needs. */
const oldest = [5, 1] as const
const encodersNeeded = ["libx264", "aac", "libmp3lame", "mjpeg", "apng"]

const outputOf = (command: ReadonlyArray<string>) =>
  run([], command, probing).pipe(
    Effect.map(({ code, out }) => code === 0 ? out : undefined),
    Effect.orElseSucceed(() => undefined)
  )

/**
 * Returns why an ffmpeg build is unusable, from its own output; undefined if it is usable. Builds without a version
 * number count as new.
 */
export const unusableReason = (version: string, encoders: string): string | undefined => {
  const [, major, minor] = /^ffmpeg version n?(\d+)\.(\d+)/.exec(version) ?? []
  if (major !== undefined && (Number(major) - oldest[0] || Number(minor) - oldest[1]) < 0) {
    return `${major}.${minor} is too old; ${oldest.join(".")} is the oldest safe version`
  }
  const names = new Set(encoders.split("\n").map((line) => line.trim().split(/\s+/)[1]))
  const missing = encodersNeeded.filter((name) => !names.has(name))
  return missing.length === 0 ? undefined : `lacks the encoders ${missing.join(", ")}`
}

/**
 * Prefix that cuts a tool off from the network, and has the kernel kill it when this process ends; each if the system
 * supports it.
 */
const sandbox = Effect.gen(function*() {
  let prefix: ReadonlyArray<string> = []
  for (const part of [["unshare", "--map-root-user", "--net"], ["setpriv", "--pdeathsig", "KILL"]]) {
    if ((yield* outputOf([...prefix, ...part, "true"])) !== undefined) prefix = prefix.concat(part)
  }
  return prefix
})

const probe = Effect.gen(function*() {
  const version = yield* outputOf(["ffmpeg", "-version"])
  const encoders = yield* outputOf(["ffmpeg", "-hide_banner", "-encoders"])
  if (version === undefined || encoders === undefined || (yield* outputOf(["ffprobe", "-version"])) === undefined) {
    yield* Effect.logInfo("ffmpeg is not installed, so only pictures can be uploaded.")
    return undefined
  }
  const reason = unusableReason(version, encoders)
  if (reason !== undefined) {
    yield* Effect.logWarning(`ffmpeg ${reason}, so only pictures can be uploaded.`)
    return undefined
  }
  const found: Ffmpeg = make(yield* sandbox)
  return found
})

/**
 * Cache of the programs: the check takes five processes, and their installation does not change while this process
 * runs.
 */
let known: { readonly ffmpeg: Ffmpeg | undefined } | undefined

/** Returns ffmpeg and ffprobe if this machine has usable versions. */
export const find = Effect.suspend(() =>
  known === undefined
    ? Effect.tap(probe, (ffmpeg) => Effect.sync(() => known = { ffmpeg }))
    : Effect.succeed(known.ffmpeg)
)
