import { ByteSize, Effect, FileSystem, Stream } from "effect"
import { Argument } from "effect/cli"
import { OperatorError } from "../layers/OperatorError.ts"
import { headBytes, sniff } from "../services/media/FileTypes.ts"
import type { Source } from "../services/media/MediaTools.ts"

export const file = Argument.String("file").pipe(Argument.withDescription("Path of a picture on this machine"))

/** Formats a number of bytes: `3.4 MB`. */
export const formatBytes = (bytes: number): string => {
  const units = ["bytes", "KB", "MB", "GB", "TB"]
  const step = bytes < 1 ? 0 : Math.min(units.length - 1, Math.floor(Math.log(bytes) / Math.log(1024)))
  const value = bytes / 1024 ** step
  return `${step === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${units[step]}`
}

/**
 * Returns a picture file of the operator, with the type that its content has. Fails if it is larger than `bytesMax`.
 */
export const pictureAt = Effect.fnUntraced(function*(path: string, bytesMax: number) {
  const fs = yield* FileSystem.FileSystem
  const refuse = (why: string) => new OperatorError({ message: `${path} ${why}` })
  const unreadable = () => refuse("cannot be read")
  const { size, type } = yield* Effect.mapError(fs.stat(path), unreadable)
  if (type !== "File") return yield* refuse("is not a file")
  if (Number(size) > bytesMax) return yield* refuse(`is larger than ${formatBytes(bytesMax)}`)
  const head = Buffer.concat(
    yield* Stream.runCollect(fs.stream(path, { bytesToRead: ByteSize.bytes(headBytes) })).pipe(
      Effect.mapError(unreadable)
    )
  )
  const found = yield* sniff(head)
  if (found === undefined) return yield* refuse("is not a supported picture")
  const source: Source = { path, type: found }
  return source
})
