import { Effect, Stream } from "effect"
import { Tar } from "effect/encoding"
import { Gunzip, gzipSync } from "fflate"

/** How much is taken of an archive, however small it is packed. */
interface Bounds {
  readonly filesMax: number
  readonly unpackedBytesMax: number
  readonly stepBytes: number
  /** Bytes of the file of a name. */
  readonly bytesMax: (name: string) => number
}

/** What gzip comes to, a step at a time, so that others have their turn; it fails where that is more than it may be. */
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

/** The files of a tar.gz, as Mastodon's command line writes one; undefined for what is none, or comes to too much. */
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

/** A tar.gz of files by their names. */
export const tarballOf = (files: Iterable<readonly [name: string, bytes: Uint8Array]>, mtime: Date) =>
  Stream.fromIterable(files).pipe(
    Stream.map(([name, bytes]) => Tar.file(name, bytes, { mtime })),
    Stream.pipeThroughChannel(Tar.encode()),
    Stream.runCollect,
    Effect.map((parts) => gzipSync(Buffer.concat([...parts]), { level: 1, mtime })),
    // The sizes are those of the bytes.
    Effect.orDie
  )
