import { ByteSize, Clock, Deferred, Effect, FileSystem, Layer, Option, Path, Semaphore, Stream } from "effect"
import { headBytes, sniff, typeNamed } from "../../services/media/FileTypes.ts"
import {
  type FetchFailed,
  isRemoteKey,
  NoRemoteFile,
  RemoteCopies,
  type RemoteCopy
} from "../../services/media/RemoteCopies.ts"
import { type StorageFailed, storageFailed } from "../../services/media/Storage.ts"
import * as SlowTurns from "../../services/outbound/SlowTurns.ts"
import { Environment } from "../Environment.ts"

/** Maximum files in the cache, whatever their size, and maximum concurrent fetches. */
const copiesMax = 50_000
const fetchesAtOnceMax = 16
/** Limits of files from slow hosts; they are fetched besides the others. */
const slowFetches = { millis: 3_000, atOnceMax: 512 }
/** Minimum time between stored views of a file, in milliseconds; the order after a restart is only this exact. */
const viewMillis = 60_000
/** Age of drafts that a killed process left, in milliseconds; a fetch takes less. */
const draftMillisMax = 3_600_000

type Failure = FetchFailed | NoRemoteFile | StorageFailed

interface Kept {
  readonly mime: string
  readonly bytes: number
  readonly fetchedAt: number
  readonly viewedAt: number
}

/** Returns the file name of a copy: its key and its type. */
const fileNameOf = (key: string, mime: string) => `${key}.${mime.replace("/", "_")}`

const rootOf = (path: Path.Path, dataDir: string) => path.resolve(dataDir, "media", "remote")

const millis = (at: Option.Option<Date>) => Option.match(at, { onNone: () => 0, onSome: (date) => date.getTime() })

/** Files and bytes that the cache takes on this machine. */
export const cacheUsage = Effect.gen(function*() {
  const { dataDir } = yield* Environment
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const root = rootOf(path, dataDir)
  const amount = { files: 0, bytes: 0 }
  for (const name of yield* fs.readDirectory(root, { recursive: true })) {
    const { size, type } = yield* fs.stat(path.join(root, name))
    if (type !== "File") continue
    amount.files++
    amount.bytes += Number(size)
  }
  return amount
}).pipe(Effect.orElseSucceed(() => ({ files: 0, bytes: 0 })))

/**
 * Copies of remote files in `DATA_DIR/media/remote`, up to `MEDIA_CACHE_BYTES`. A file's name has its key and type. Its
 * times say when it was fetched (mtime) and viewed (atime), so that the order survives a restart.
 */
export const layer = Layer.effect(
  RemoteCopies,
  Effect.gen(function*() {
    const { dataDir, mediaCacheBytes } = yield* Environment
    const fs = yield* FileSystem.FileSystem
    const path = yield* Path.Path
    const root = rootOf(path, dataDir)
    const scope = yield* Effect.scope
    const turns = SlowTurns.make(fetchesAtOnceMax, slowFetches)
    /** Serialises insertions: the bytes of a concurrent one would count, but could not be evicted yet. */
    const keeping = yield* Semaphore.make(1)
    /** Least recently viewed first. */
    const copies = new Map<string, Kept>()
    const fetching = new Map<string, Deferred.Deferred<Kept, Failure>>()
    /** Bytes of stored copies, and of those about to be stored. */
    let bytesKept = 0
    let drafts = 0
    /** Bytes of drafts of slow fetches, which can be many at once and may use half of the cache together. */
    let slowDraftBytes = 0
    const slowBytesMax = mediaCacheBytes / 2

    const place = (key: string, mime: string) => path.join(root, key.slice(0, 2), fileNameOf(key, mime))

    const evict = (key: string) =>
      Effect.suspend(() => {
        const old = copies.get(key)
        if (old === undefined) return Effect.void
        copies.delete(key)
        bytesKept -= old.bytes
        return Effect.ignore(fs.remove(place(key, old.mime), { force: true }))
      })

    /** Evicts copies until the cache is within its limits. */
    const evictToFit = Effect.whileLoop({
      while: () => copies.size > 0 && (bytesKept > mediaCacheBytes || copies.size >= copiesMax),
      body: () => evict(copies.keys().next().value ?? ""),
      step: () => {}
    })

    /** Moves a finished draft to its place, and evicts others for it. */
    const insert = (key: string, copy: Kept, draft: string) =>
      Effect.gen(function*() {
        bytesKept += copy.bytes
        yield* evict(key)
        yield* evictToFit
        yield* fs.utimes(draft, copy.viewedAt / 1000, copy.fetchedAt / 1000)
        yield* fs.rename(draft, place(key, copy.mime))
        copies.set(key, copy)
      }).pipe(
        Effect.onError(() => Effect.sync(() => bytesKept -= copy.bytes)),
        keeping.withPermits(1),
        Effect.mapError(storageFailed)
      )

    const load = Effect.gen(function*() {
      yield* fs.makeDirectory(root, { recursive: true, mode: 0o700 })
      const before = (yield* Clock.currentTimeMillis) - draftMillisMax
      const found: Array<readonly [key: string, copy: Kept]> = []
      for (const name of yield* fs.readDirectory(root, { recursive: true })) {
        const [key = "", type = ""] = path.basename(name).split(".")
        const mime = type.replace("_", "/")
        const file = path.join(root, name)
        // The file may be gone if another node shares the folder.
        const info = Option.getOrUndefined(yield* Effect.option(fs.stat(file)))
        if (info?.type !== "File") continue
        const [fetchedAt, viewedAt] = [millis(info.mtime), millis(info.atime)]
        if (isRemoteKey(key) && typeNamed(mime) !== undefined) {
          found.push([key, { mime, bytes: Number(info.size), fetchedAt, viewedAt }])
        } else if (fetchedAt < before) {
          yield* fs.remove(file, { force: true })
        }
      }
      for (const [key, copy] of found.sort(([, a], [, b]) => a.viewedAt - b.viewedAt)) {
        yield* evict(key)
        copies.set(key, copy)
        bytesKept += copy.bytes
      }
      yield* evictToFit
    })
    yield* Effect.catch(load, (error) => Effect.logWarning("the cache of remote files could not be loaded", error))

    const copyOf = (key: string, { bytes, fetchedAt, mime }: Kept): RemoteCopy => ({
      mime,
      bytes,
      fetchedAt,
      read: ({ length, offset }) =>
        fs.stream(place(key, mime), { offset: ByteSize.bytes(offset), bytesToRead: ByteSize.bytes(length) }).pipe(
          Stream.mapError(storageFailed)
        )
    })

    const viewed = Effect.fnUntraced(function*(key: string, copy: Kept) {
      const now = yield* Clock.currentTimeMillis
      const isDue = now - copy.viewedAt >= viewMillis
      copies.delete(key)
      copies.set(key, isDue ? { ...copy, viewedAt: now } : copy)
      if (isDue) yield* Effect.ignore(fs.utimes(place(key, copy.mime), now / 1000, copy.fetchedAt / 1000))
    })

    const store = Effect.fnUntraced(function*(
      key: string,
      bytes: Stream.Stream<Uint8Array, FetchFailed>,
      isSlow: () => boolean
    ) {
      const folder = path.join(root, key.slice(0, 2))
      const draft = path.join(folder, `${key}-${++drafts}.part`)
      const head = new Uint8Array(headBytes)
      let count = 0
      let slowCount = 0
      yield* Effect.mapError(fs.makeDirectory(folder, { recursive: true, mode: 0o700 }), storageFailed)
      return yield* Effect.gen(function*() {
        yield* Effect.scoped(Effect.gen(function*() {
          const file = yield* Effect.mapError(fs.open(draft, { flag: "w", mode: 0o600 }), storageFailed)
          yield* Stream.runForEach(bytes, (chunk): Effect.Effect<void, NoRemoteFile | StorageFailed> => {
            if (count < headBytes) head.set(chunk.subarray(0, headBytes - count), count)
            count += chunk.length
            if (isSlow()) {
              slowDraftBytes += count - slowCount
              slowCount = count
            }
            return count > mediaCacheBytes || (isSlow() && slowDraftBytes > slowBytesMax)
              ? Effect.fail(new NoRemoteFile({ text: "The file does not fit into MEDIA_CACHE_BYTES" }))
              : Effect.mapError(file.writeAll(chunk), storageFailed)
          })
        }))
        const type = yield* sniff(head.subarray(0, count))
        if (type === undefined) {
          return yield* new NoRemoteFile({ text: "The file is of a type that this server does not serve" })
        }
        const now = yield* Clock.currentTimeMillis
        const copy: Kept = { mime: type.mime, bytes: count, fetchedAt: now, viewedAt: now }
        yield* insert(key, copy, draft)
        return copy
      }).pipe(
        Effect.onError(() => Effect.ignore(fs.remove(draft, { force: true }))),
        Effect.ensuring(Effect.sync(() => slowDraftBytes -= slowCount))
      )
    })

    const get = Effect.fnUntraced(
      function*(key: string, notBefore: number, fetch: Stream.Stream<Uint8Array, FetchFailed>) {
        const copy = copies.get(key)
        if (copy !== undefined && copy.fetchedAt >= notBefore) {
          // Another node that shares the folder, or a person, may have removed the file.
          if (yield* Effect.orElseSucceed(fs.exists(place(key, copy.mime)), () => false)) {
            yield* viewed(key, copy)
            return copyOf(key, copy)
          }
          yield* evict(key)
        }
        // One fetch per key. A failure applies to all callers, as they ask for the same URL.
        const flying = fetching.get(key)
        if (flying !== undefined) return copyOf(key, yield* Deferred.await(flying))
        const started = yield* Deferred.make<Kept, Failure>()
        const flight = turns.within((isSlow) => store(key, fetch, isSlow)).pipe(
          Effect.onExit((exit) =>
            Effect.suspend(() => {
              fetching.delete(key)
              return Deferred.done(started, exit)
            })
          ),
          Effect.ignore
        )
        yield* Effect.suspend(() => {
          fetching.set(key, started)
          return Effect.forkIn(flight, scope)
        })
        return copyOf(key, yield* Deferred.await(started))
      }
    )

    return RemoteCopies.of({
      get,
      usage: Effect.sync(() => ({ files: copies.size, bytes: bytesKept, bytesMax: mediaCacheBytes }))
    })
  })
)
