import { Effect } from "effect"
import { execFile } from "node:child_process"
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { promisify } from "node:util"
import * as Programs from "./programs/Programs.ts"

const run = promisify(execFile)

/*
 * Runs ffmpeg without blocking the process, which may also run the server under test. On a busy machine a blocked
 * server would refuse the next requests.
 */

/** Runs `use` in a temporary folder with these files, then removes the folder. */
const inFolder = <A>(files: Readonly<Record<string, Uint8Array>>, use: (folder: string) => Promise<A>) =>
  Effect.promise(async () => {
    const folder = await mkdtemp(`${tmpdir()}/murmuration-media-`)
    try {
      for (const [name, bytes] of Object.entries(files)) await writeFile(`${folder}/${name}`, bytes)
      return await use(folder)
    } finally {
      await rm(folder, { recursive: true })
    }
  })

/** Returns the file that ffmpeg makes with these arguments; `files` are in its folder under their names. */
export const ffmpegFile = (
  name: string,
  args: ReadonlyArray<string>,
  files: Readonly<Record<string, Uint8Array>> = {}
): Effect.Effect<Uint8Array> =>
  inFolder(files, async (folder) => {
    await run(Programs.path("ffmpeg"), ["-nostdin", "-v", "error", "-y", ...args, name], { cwd: folder })
    return await readFile(`${folder}/${name}`)
  })

const cache = new Map<string, Uint8Array>()

/** Makes a file once for all tests of this process. */
const madeOnce = (name: string, args: ReadonlyArray<string>) =>
  Effect.suspend(() => {
    const key = [name, ...args].join(" ")
    const known = cache.get(key)
    return known === undefined
      ? Effect.tap(ffmpegFile(name, args), (file) => Effect.sync(() => cache.set(key, file)))
      : Effect.succeed(Uint8Array.from(known))
  })

const test = (
  seconds: number,
  size = "160x120",
  rate = 10
) => ["-f", "lavfi", "-i", `testsrc=duration=${seconds}:size=${size}:rate=${rate}`]
const tone = (seconds: number) => ["-f", "lavfi", "-i", `sine=frequency=440:duration=${seconds}`]

/** A video with sound, in the container given by the name's extension. */
export const video = (name: string, options: ReadonlyArray<string> = [], seconds = 1) =>
  madeOnce(name, [...test(seconds), ...tone(seconds), "-shortest", ...options])

/** A video without sound. */
export const silent = (name: string, size?: string, options: ReadonlyArray<string> = [], rate = 10) =>
  madeOnce(name, [...test(1, size, rate), ...options])

export const sound = (name: string, options: ReadonlyArray<string> = []) => madeOnce(name, [...tone(1), ...options])

/** An audio file with a cover picture. */
export const soundWithCover = (cover: Uint8Array, options: ReadonlyArray<string>) =>
  ffmpegFile("cover.mp3", [
    ...tone(1),
    ..."-i cover.png -map 0:a -map 1:v -c:v copy -disposition:v attached_pic".split(" "),
    ...options
  ], { "cover.png": cover })

/** Returns what ffprobe reports about a file. */
export const probed = (bytes: Uint8Array): Effect.Effect<string> =>
  inFolder({ file: bytes }, async (folder) => {
    const args = ["-v", "error", "-of", "json", "-show_format", "-show_streams", `${folder}/file`]
    return (await run(Programs.path("ffprobe"), args)).stdout
  })
