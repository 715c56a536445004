import { Effect, Stream } from "effect"
import { Tar, Zip } from "effect/encoding"
import { Gunzip } from "fflate"
import { entriesMax, fileBytesMin, fileExpansionMax, jsonBytesMax, pathBytesMax } from "./ArchiveBounds.ts"
import * as ArchiveEnds from "./ArchiveEnds.ts"
import { type ArchiveRefused, refuse } from "./ArchiveRefusals.ts"

/** Compressed bytes that are expanded before yielding; they expand at most 1,000 times. */
const stepBytes = 16_384

const unreadable = refuse("unreadable")
const bomb = refuse("bomb")
const crowded = refuse("too_many_files")
const unsafe = refuse("unsafe_path")

/** A file of an archive, whose bytes can be read once, before the next entry is pulled. */
export interface ArchiveEntry<E> {
  /** Without a leading `./`; never absolute, and without `..`. */
  readonly path: string
  readonly body: Stream.Stream<Uint8Array, E | ArchiveRefused>
}

/** Normalises a path; undefined for one that leaves the archive. */
const pathOf = (path: string): string | undefined => {
  if (Buffer.byteLength(path) > pathBytesMax || /[\p{Cc}\\]/u.test(path) || /^(?:\/|[A-Za-z]:)/.test(path)) {
    return undefined
  }
  const parts = path.split("/").filter((part) => part !== "" && part !== ".")
  return parts.includes("..") ? undefined : parts.join("/")
}

const isZip = (head: Uint8Array) => head[0] === 0x50 && head[1] === 0x4b
const isGzip = (head: Uint8Array) => head[0] === 0x1f && head[1] === 0x8b

const gunzipped = <E>(bytes: Stream.Stream<Uint8Array, E>): Stream.Stream<Uint8Array, E | ArchiveRefused> =>
  Stream.suspend(() => {
    let parts: Array<Uint8Array> = []
    const reader = new Gunzip((part) => parts.push(part))
    const step = (chunk: Uint8Array, last: boolean) =>
      Effect.try({
        try: () => {
          parts = []
          reader.push(chunk, last)
          return parts
        },
        catch: () => unreadable
      }).pipe(Effect.andThen((found) => Effect.as(Effect.yieldNow, found)))
    return Stream.concat(
      bytes.pipe(
        Stream.flatMap((chunk) =>
          Stream.fromIterable(
            Array.from({ length: Math.ceil(chunk.length / stepBytes) }, (_, at) =>
              chunk.subarray(at * stepBytes, (at + 1) * stepBytes))
          )
        ),
        Stream.mapEffect((chunk) => step(chunk, false))
      ),
      Stream.fromEffect(Effect.suspend(() => step(new Uint8Array(0), true)))
    ).pipe(Stream.flatMap((found) => Stream.fromIterable(found)))
  })

/**
 * Counts the bytes that an archive of `size` bytes expands to, independently of the sizes that it claims. Fails once more
 * bytes of JSON, or of everything else, have passed through the streams that it wraps; each byte counts as often as given.
 */
const makeBudget = (size: number) => {
  const left = { json: jsonBytesMax, others: Math.max(fileBytesMin, size * fileExpansionMax) }
  return (json: number, others: number) =>
  <E>(bytes: Stream.Stream<Uint8Array, E>): Stream.Stream<Uint8Array, E | ArchiveRefused> =>
    Stream.mapEffect(bytes, (chunk) => {
      left.json -= chunk.length * json
      left.others -= chunk.length * others
      return left.json < 0 || left.others < 0 ? Effect.fail(bomb) : Effect.succeed(chunk)
    })
}

const isJson = (path: string) => path.endsWith(".json")

/** Entries of a stream by the format's decoder, whose errors all mean a damaged file; expanded bytes are counted. */
const decoded = <E>(head: Uint8Array, bytes: Stream.Stream<Uint8Array, E>, counted: ReturnType<typeof makeBudget>) => {
  const entries = { count: 0 }
  /** Fails after the last entry of an archive without its end. */
  const whole = <A, F>(stream: Stream.Stream<A, F>, isComplete: (entries: number) => boolean) =>
    Stream.concat(
      Stream.tap(stream, () => Effect.sync(() => entries.count++)),
      Stream.unwrap(Effect.sync(() => isComplete(entries.count) ? Stream.empty : Stream.fail(unreadable)))
    )
  const damaged = <A, F>(stream: Stream.Stream<A, F | Zip.ZipError | Tar.TarError>) =>
    Stream.mapError(stream, (error) => Zip.isZipError(error) || Tar.isTarError(error) ? unreadable : error)
  if (isZip(head)) {
    const end = ArchiveEnds.zipEnd()
    return bytes.pipe(
      end.watch,
      Stream.pipeThroughChannel(Zip.decode()),
      Stream.map(({ body, header }) => ({
        path: header.path,
        isFile: header.type === "File",
        body: (isJson(header.path) ? counted(1, 0) : counted(0, 1))(damaged(body))
      })),
      damaged,
      (stream) => whole(stream, end.isComplete)
    )
  }
  if (isGzip(head)) {
    const end = ArchiveEnds.tarEnd()
    return counted(0, 1)(gunzipped(bytes)).pipe(
      end.watch,
      Stream.pipeThroughChannel(Tar.decode()),
      Stream.map(({ body, header }) => ({
        path: header.path,
        isFile: header.type === "File",
        // Its bytes were counted as others before the entry was known.
        body: isJson(header.path) ? counted(1, -1)(damaged(body)) : damaged(body)
      })),
      damaged,
      (stream) => whole(stream, end.isComplete)
    )
  }
  return Stream.fail(unreadable)
}

/**
 * Runs `use` for each file of a zip or tar.gz in their order, while it is read. `bytes` is the archive, `size` its
 * length and `head` its first bytes. Fails with `ArchiveRefused` for another or damaged file, unsafe paths, more than
 * `entriesMax` entries, and a zip bomb; `use` has then run for the entries before the fault.
 */
export const forEachEntry = <E, E2, R>(
  head: Uint8Array,
  bytes: Stream.Stream<Uint8Array, E>,
  size: number,
  use: (entry: ArchiveEntry<E>) => Effect.Effect<unknown, E2, R>
): Effect.Effect<void, E | E2 | ArchiveRefused, R> =>
  Effect.suspend(() => {
    const counted = makeBudget(size)
    let entries = 0
    return Stream.runForEach(decoded(head, bytes, counted), ({ body, isFile, path }): Effect.Effect<
      void,
      E | E2 | ArchiveRefused,
      R
    > => {
      entries++
      const safe = pathOf(path)
      if (entries > entriesMax) return Effect.fail(crowded)
      if (safe === undefined) return Effect.fail(unsafe)
      // The rest of a body that was not read to its end is expanded in any case, so it is counted.
      return Effect.andThen(isFile ? use({ path: safe, body }) : Effect.void, Stream.runDrain(body))
    })
  })
