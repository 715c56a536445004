import { Effect, Stream } from "effect"
import { Tar } from "effect/encoding"
import { Gunzip, gzipSync } from "fflate"

/** Bounds of unpacking an archive, independent of its size. */
interface Bounds {
  readonly filesMax: number
  readonly unpackedBytesMax: number
  readonly stepBytes: number
  /** Returns the maximum bytes of a file with this name. */
  readonly bytesMax: (name: string) => number
}

/** Decompresses gzip in steps that yield in between; fails if the result exceeds the bounds. */
const unzipped = (archive: Uint8Array, { stepBytes, unpackedBytesMax }: Bounds) => {
  let parts: Array<Uint8Array> = []
  let unpacked = 0
  const reader = new Gunzip((part) => {
    unpacked += part.length
    parts.push(part)
  })
  const steps = Array.from({ length: Math.ceil(archive.length / stepBytes) }, (_, step) => step * stepBytes)
  return Stream.fromIterable(steps).pipe(
    Stream.mapEffect(Effect.fnUntraced(function*(at) {
      yield* Effect.yieldNow
      parts = []
      yield* Effect.try(() => reader.push(archive.subarray(at, at + stepBytes), at + stepBytes >= archive.length))
      return unpacked > unpackedBytesMax ? yield* Effect.fail("too large" as const) : parts
    })),
    Stream.flatMap((found) => Stream.fromIterable(found))
  )
}

/** Returns the files of a tar.gz as written by Mastodon's command line; undefined if invalid or too large. */
export const unpackTarball = Effect.fnUntraced(
  function*(archive: Uint8Array, bounds: Bounds) {
    const files = new Map<string, Uint8Array>()
    yield* unzipped(archive, bounds).pipe(
      Stream.pipeThroughChannel(Tar.decode()),
      Stream.runForEach(Effect.fnUntraced(function*({ body, header: { path, size, type } }) {
        if (type !== "File" || files.size > bounds.filesMax || size > bounds.bytesMax(path)) return
        files.set(path, Buffer.concat([...(yield* Stream.runCollect(body))]))
      }))
    )
    return files
  },
  Effect.orElseSucceed(() => undefined)
)

/** Returns a tar.gz of files by name. */
export const tarballOf = (files: Iterable<readonly [name: string, bytes: Uint8Array]>, mtime: Date) =>
  Stream.fromIterable(files).pipe(
    Stream.map(([name, bytes]) => Tar.file(name, bytes, { mtime })),
    Stream.pipeThroughChannel(Tar.encode()),
    Stream.runCollect,
    Effect.map((parts) => gzipSync(Buffer.concat([...parts]), { level: 1, mtime })),
    // Cannot fail: the sizes in the headers are those of the bytes.
    Effect.orDie
  )
