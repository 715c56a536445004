import { Clock, Context, Effect, Layer, Schema, Stream } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import type { Fragment } from "effect/sql/Statement"
import { rowsOf } from "../Rows.ts"
import { traced } from "../Traced.ts"
import { unheldFile } from "./FileOwners.ts"
import { headBytes, type ServedExtension, type uploadExtension } from "./FileTypes.ts"
import { Storage, StorageFailed } from "./Storage.ts"

const nameRows = rowsOf(Schema.Struct({ name: Schema.String }))

/** More bytes than allowed. */
export class FileTooLarge extends Schema.TaggedError<FileTooLarge>()("FileTooLarge", { bytesMax: Schema.Int }) {}

/** How long a file may be there that nobody holds, in milliseconds: longer than any upload and any job takes to store. */
export const unheldMillisMax = 3_600_000
/** Files that one sweep removes. */
const sweptFilesMax = 500

/** A file that arrived and that nobody holds yet. `head` are its first bytes. */
interface Received {
  readonly name: string
  readonly bytes: number
  readonly head: Uint8Array
}

/**
 * The ledger of the storage. A file's row is committed before its bytes are written, and deleted after they are gone.
 * So a crash at any point leaves nothing that the sweep does not find. Names hold 160 bits of chance.
 */
export class StoredFiles extends Context.Service<StoredFiles, {
  /** Stores what arrives, as it arrives; nothing is left of it where it breaks off or grows over `bytesMax`. */
  readonly receive: <E>(
    extension: ServedExtension | typeof uploadExtension,
    bytes: Stream.Stream<Uint8Array, E>,
    bytesMax: number
  ) => Effect.Effect<Received, E | StorageFailed | SqlError | FileTooLarge>
  /** Stores a file of this machine and answers its name. */
  readonly keep: (extension: ServedExtension, path: string, bytes: number) => Effect.Effect<
    string,
    StorageFailed | SqlError
  >
  /** Removes those of these files that nobody holds. Never fails: what cannot be removed now is swept. */
  readonly discard: (names: ReadonlyArray<string>) => Effect.Effect<void>
  /** Removes what nobody has held for an hour, and an hour later its rows; answers how many files and rows. */
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
      /** Removes the bytes of files that `which` names; nobody can take ownership of one from now on. */
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
      }, Effect.catchCause((cause) => Effect.logWarning("files are left to the sweep", cause)))

      /** Enters how large a file became. One that arrived after an hour in which this process stood still was swept. */
      const arrived = Effect.fnUntraced(function*(name: string, bytes: number) {
        const rows = yield* sql`UPDATE stored_files SET bytes = ${bytes} WHERE name = ${name} AND doomed_at IS NULL
          RETURNING name`
        if (rows.length > 0) return
        yield* storage.remove(name)
        return yield* new StorageFailed({ text: "The file took too long to arrive" })
      })

      const receive: StoredFiles["Service"]["receive"] = Effect.fnUntraced(function*(extension, bytes, bytesMax) {
        const name = yield* enter(extension)
        let count = 0
        const head = new Uint8Array(headBytes)
        const watched = Stream.mapEffect(bytes, (chunk) => {
          if (count < headBytes) head.set(chunk.subarray(0, headBytes - count), count)
          count += chunk.length
          return count > bytesMax ? new FileTooLarge({ bytesMax }) : Effect.succeed(chunk)
        })
        yield* storage.write(name, watched).pipe(
          Effect.andThen(Effect.suspend(() => arrived(name, count))),
          Effect.onError(() => discard([name]))
        )
        return { name, bytes: count, head: head.subarray(0, count) }
      })

      const keep = traced("StoredFiles.keep")(function*(extension: ServedExtension, path: string, bytes: number) {
        const name = yield* enter(extension)
        yield* storage.writeFile(name, path)
        yield* arrived(name, bytes)
        return name
      })

      const sweep = Effect.gen(function*() {
        const before = new Date((yield* Clock.currentTimeMillis) - unheldMillisMax)
        const oldest = (which: Fragment) =>
          sql`name IN (SELECT name FROM stored_files WHERE ${unheld} AND ${which} ORDER BY created_at LIMIT ${sweptFilesMax})`
        // A file may arrive after it was swept, where its writer stood still meanwhile: its row stays for another hour.
        const gone = yield* empty(oldest(sql`doomed_at < ${before}`))
        yield* forget(gone)
        const emptied = yield* empty(oldest(sql`doomed_at IS NULL AND created_at < ${before}`))
        return gone.length + emptied.length
      }).pipe(Effect.withSpan("StoredFiles.sweep"))

      return StoredFiles.of({ receive, keep, discard, sweep })
    })
  )
}
