import { Effect } from "effect"
import { execFileSync } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import * as Programs from "./programs/Programs.ts"

/** The file that ffmpeg makes with these arguments; `files` lie beside it under their names. */
export const made = (
  name: string,
  args: ReadonlyArray<string>,
  files: Readonly<Record<string, Uint8Array>> = {}
): Uint8Array => {
  const folder = mkdtempSync(`${tmpdir()}/murmuration-media-`)
  try {
    for (const [other, bytes] of Object.entries(files)) writeFileSync(`${folder}/${other}`, bytes)
    execFileSync(Programs.path("ffmpeg"), ["-v", "error", "-y", ...args, name], { cwd: folder })
    return readFileSync(`${folder}/${name}`)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

const test = (
  seconds: number,
  size = "160x120",
  rate = 10
) => ["-f", "lavfi", "-i", `testsrc=duration=${seconds}:size=${size}:rate=${rate}`]
const tone = (seconds: number) => ["-f", "lavfi", "-i", `sine=frequency=440:duration=${seconds}`]

/** A video with sound, in the container that the name says. */
export const video = (name: string, options: ReadonlyArray<string> = [], seconds = 1) =>
  Effect.sync(() => made(name, [...test(seconds), ...tone(seconds), "-shortest", ...options]))

/** A video without sound. */
export const silent = (name: string, size?: string, options: ReadonlyArray<string> = [], rate = 10) =>
  Effect.sync(() => made(name, [...test(1, size, rate), ...options]))

export const sound = (name: string, options: ReadonlyArray<string> = []) =>
  Effect.sync(() => made(name, [...tone(1), ...options]))

/** A sound with a picture in it. */
export const soundWithCover = (cover: Uint8Array, options: ReadonlyArray<string>) =>
  Effect.sync(() =>
    made("cover.mp3", [
      ...tone(1),
      ..."-i cover.png -map 0:a -map 1:v -c:v copy -disposition:v attached_pic".split(" "),
      ...options
    ], { "cover.png": cover })
  )

/** What ffprobe says of bytes. */
export const probed = (bytes: Uint8Array) =>
  Effect.sync(() => {
    const folder = mkdtempSync(`${tmpdir()}/murmuration-media-`)
    try {
      writeFileSync(`${folder}/file`, bytes)
      const args = ["-v", "error", "-of", "json", "-show_format", "-show_streams", `${folder}/file`]
      return execFileSync(Programs.path("ffprobe"), args, { encoding: "utf8" })
    } finally {
      rmSync(folder, { recursive: true })
    }
  })
