import { Clock, Context, Effect, Layer, Schema, Stream } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import type { Fragment } from "effect/sql/Statement"
import { rowsOf } from "../database/Rows.ts"
import { traced } from "../runtime/Traced.ts"
import { unheldFile } from "./FileOwners.ts"
import { headBytes, type ServedExtension, type uploadExtension } from "./FileTypes.ts"
import { type BucketObject, Storage, StorageFailed } from "./Storage.ts"

const nameRows = rowsOf(Schema.Struct({ name: Schema.String }))

/** More bytes than allowed. */
export class FileTooLarge extends Schema.TaggedError<FileTooLarge>()("FileTooLarge", { bytesMax: Schema.Int }) {}

/** Maximum time of a file without an owner since bytes last arrived, in milliseconds; longer than any job takes. */
export const unheldMillisMax = 3_600_000
/** Interval at which the row of a file that is arriving is renewed, in milliseconds. */
const renewedMillis = unheldMillisMax / 12
/** Maximum files that one sweep deletes. */
const sweptFilesMax = 500

/** A stored file without an owner yet. `head` has its first bytes. */
interface Received {
  readonly name: string
  readonly bytes: number
  readonly head: Uint8Array
}

/**
 * Ledger of the storage. A file's row is committed before its bytes are written, and deleted after them, so the sweep
 * finds all that a crash leaves behind. Names have 160 random bits.
 */
export class StoredFiles extends Context.Service<StoredFiles, {
  /**
   * Stores a stream; deletes the file if the stream fails or exceeds `bytesMax`. However long it lasts, the sweep spares
   * its file and those of `earlier`, which have no owner before it ends.
   */
  readonly receive: <E>(
    extension: ServedExtension | typeof uploadExtension,
    bytes: Stream.Stream<Uint8Array, E>,
    bytesMax: number,
    earlier?: ReadonlyArray<string>
  ) => Effect.Effect<Received, E | StorageFailed | SqlError | FileTooLarge>
  /** Stores a local file and returns its name; `isFixed` as in `Storage.writeFile`. */
  readonly keep: (extension: ServedExtension, path: string, bytes: number, isFixed?: boolean) => Effect.Effect<
    string,
    StorageFailed | SqlError
  >
  /**
   * Copies an object of the same service, and returns its name here; undefined if the storage cannot do that. Fails while
   * the service is busy.
   */
  readonly keepObject: (extension: ServedExtension, object: BucketObject, bytes: number) => Effect.Effect<
    string | undefined,
    StorageFailed | SqlError
  >
  /** Deletes the files among these that have no owner. Never fails: the sweep retries. */
  readonly discard: (names: ReadonlyArray<string>) => Effect.Effect<void>
  /** Deletes files without an owner for an hour, and their rows an hour later; returns how many files and rows. */
  readonly sweep: Effect.Effect<number, StorageFailed | SqlError>
}>()("murmuration/services/media/StoredFiles") {
  static readonly layer = Layer.effect(
    StoredFiles,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const storage = yield* Storage
      const random = yield* SecureRandom.SecureRandom

      const enter = Effect.fnUntraced(function*(extension: string) {
        const chance = Array.from(yield* random.randomBytes(32), (byte) => (byte & 31).toString(32)).join("")
        const name = `${chance.slice(0, 2)}/${chance}.${extension}`
        yield* sql`INSERT INTO stored_files (name, created_at)
          VALUES (${name}, ${new Date(yield* Clock.currentTimeMillis)})`
        return name
      })

      const unheld = sql.literal(unheldFile)
      /** Deletes the content of the selected files; these can no longer get an owner. */
      const empty = Effect.fnUntraced(function*(which: Fragment) {
        const rows = yield* nameRows(sql`UPDATE stored_files
          SET doomed_at = coalesce(doomed_at, ${new Date(yield* Clock.currentTimeMillis)})
          WHERE ${which} AND ${unheld} RETURNING name`)
        const names = rows.map(({ name }) => name)
        yield* Effect.forEach(names, storage.remove, { concurrency: 4, discard: true })
        return names
      })
      const forget = (names: ReadonlyArray<string>) =>
        names.length === 0
          ? Effect.void
          : Effect.asVoid(sql`DELETE FROM stored_files WHERE name = ANY (${names}::text[])`)

      const discard = traced("StoredFiles.discard")(function*(names: ReadonlyArray<string>) {
        if (names.length === 0) return
        yield* forget(yield* empty(sql`name = ANY (${names}::text[])`))
      }, Effect.catchCause((cause) => Effect.logWarning("files were not deleted; the sweep will retry", cause)))

      /** Keeps files from the sweep for another hour. */
      const renew = (names: ReadonlyArray<string>, now: number) =>
        sql`UPDATE stored_files SET created_at = ${new Date(now)}
          WHERE name = ANY (${names}::text[]) AND doomed_at IS NULL`

      /** Stores a file's final size. Fails if the process stalled for an hour and the file was swept. */
      const arrived = Effect.fnUntraced(function*(name: string, bytes: number) {
        const at = new Date(yield* Clock.currentTimeMillis)
        const rows = yield* sql`UPDATE stored_files SET bytes = ${bytes}, created_at = ${at}
          WHERE name = ${name} AND doomed_at IS NULL RETURNING name`
        if (rows.length > 0) return
        yield* storage.remove(name)
        return yield* new StorageFailed({ text: "The file took too long to arrive" })
      })

      const receive: StoredFiles["Service"]["receive"] = Effect.fnUntraced(
        function*(extension, bytes, bytesMax, earlier = []) {
          const name = yield* enter(extension)
          let count = 0
          const head = new Uint8Array(headBytes)
          let renewedAt = yield* Clock.currentTimeMillis
          const watched = Stream.mapEffect(
            bytes,
            Effect.fnUntraced(function*(chunk) {
              if (count < headBytes) head.set(chunk.subarray(0, headBytes - count), count)
              count += chunk.length
              if (count > bytesMax) return yield* new FileTooLarge({ bytesMax })
              const now = yield* Clock.currentTimeMillis
              if (now - renewedAt >= renewedMillis) {
                renewedAt = now
                yield* renew([name, ...earlier], now)
              }
              return chunk
            })
          )
          yield* storage.write(name, watched).pipe(
            Effect.andThen(Effect.suspend(() => arrived(name, count))),
            Effect.onError(() => discard([name]))
          )
          return { name, bytes: count, head: head.subarray(0, count) }
        }
      )

      const keep = traced("StoredFiles.keep")(function*(
        extension: ServedExtension,
        path: string,
        bytes: number,
        isFixed?: boolean
      ) {
        const name = yield* enter(extension)
        yield* storage.writeFile(name, path, isFixed)
        yield* arrived(name, bytes)
        return name
      })

      const keepObject = traced("StoredFiles.keepObject")(function*(
        extension: ServedExtension,
        object: BucketObject,
        bytes: number
      ) {
        if (storage.copyObject === undefined) return undefined
        const name = yield* enter(extension)
        // A copy whose response was lost may exist.
        if (yield* Effect.onError(storage.copyObject(name, object), () => discard([name]))) {
          yield* arrived(name, bytes)
          return name
        }
        yield* discard([name])
        return undefined
      })

      const sweep = Effect.gen(function*() {
        const before = new Date((yield* Clock.currentTimeMillis) - unheldMillisMax)
        const oldest = (which: Fragment) =>
          sql`name IN (SELECT name FROM stored_files WHERE ${unheld} AND ${which} ORDER BY created_at LIMIT ${sweptFilesMax})`
        // A swept file may still be written if its writer stalled: its row is kept for another hour.
        const gone = yield* empty(oldest(sql`doomed_at < ${before}`))
        yield* forget(gone)
        const emptied = yield* empty(oldest(sql`doomed_at IS NULL AND created_at < ${before}`))
        return gone.length + emptied.length
      }).pipe(Effect.withSpan("StoredFiles.sweep"))

      return StoredFiles.of({ receive, keep, keepObject, discard, sweep })
    })
  )
}
