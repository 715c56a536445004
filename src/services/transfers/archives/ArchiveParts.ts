import { Context, Effect, Layer, Schema, Stream } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { rowsMax } from "../../database/Paging.ts"
import { rowsOf, singleRow } from "../../database/Rows.ts"
import { FileOwners } from "../../media/FileOwners.ts"
import { type Range, Storage, type StorageFailed } from "../../media/Storage.ts"
import { Conflict } from "../../runtime/Errors.ts"
import { traced } from "../../runtime/Traced.ts"
import { directoryEnd, directoryEntry, type ZipEntry } from "./ZipFormat.ts"

/** Directory entries that one query reads. */
const entriesPerPage = 1_000

/** A part of an archive: a few bytes, or a stored file without an owner. */
export type ArchivePart =
  | { readonly place: number; readonly head: Uint8Array }
  | { readonly place: number; readonly fileName: string; readonly bytes: number }

/** An entry whose header is at `offset` in the part at `place`. */
export interface PlacedEntry extends ZipEntry {
  readonly place: number
  readonly offset: number
}

const PartRow = Schema.Struct({
  place: Schema.Int,
  head: Schema.Uint8Array,
  fileName: Schema.NullOr(Schema.String),
  bytes: Schema.BigInt
})
type PartRow = typeof PartRow.Type
const partRows = rowsOf(PartRow)
const sizeRows = rowsOf(Schema.Struct({ bytes: Schema.BigInt }))
const entryRows = rowsOf(Schema.Struct({
  place: Schema.Int,
  partOffset: Schema.Int,
  path: Schema.String,
  deflated: Schema.Boolean,
  crc: Schema.BigInt,
  size: Schema.BigInt,
  storedSize: Schema.BigInt
}))

/** Zips that are written in parts, so that a node that dies loses one part only, and read as one file. */
export class ArchiveParts extends Context.Service<ArchiveParts, {
  /** Adds parts and entries, in the transaction of the step that wrote them. Fails if a file was swept meanwhile. */
  readonly add: (
    transferId: bigint,
    parts: ReadonlyArray<ArchivePart>,
    entries: ReadonlyArray<PlacedEntry>
  ) => Effect.Effect<void, Conflict | SqlError>
  /** Streams the directory that ends the archive. `at` is the time of its entries. */
  readonly directory: (transferId: bigint, at: Date) => Stream.Stream<Uint8Array, SqlError>
  /** Returns the bytes of all parts. */
  readonly size: (transferId: bigint) => Effect.Effect<number, SqlError>
  /** Streams a range of the archive. */
  readonly read: (transferId: bigint, range: Range) => Stream.Stream<Uint8Array, SqlError | StorageFailed>
  /** Deletes the parts of an archive; returns the names of files that have no owner then. */
  readonly remove: (transferId: bigint) => Effect.Effect<ReadonlyArray<string>, SqlError>
}>()("murmuration/services/transfers/archives/ArchiveParts") {
  static readonly layer = Layer.effect(
    ArchiveParts,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const fileOwners = yield* FileOwners
      const storage = yield* Storage

      const partsOf = (transferId: bigint) =>
        partRows(sql`SELECT place, head, file_name, bytes FROM archive_parts
          WHERE transfer_id = ${transferId} ORDER BY place`)
      const size = (transferId: bigint) =>
        Effect.map(
          sizeRows(
            sql`SELECT coalesce(sum(bytes), 0)::bigint AS bytes FROM archive_parts WHERE transfer_id = ${transferId}`
          ),
          (rows) => Number(singleRow(rows).bytes)
        )

      const add = traced("ArchiveParts.add")(
        function*(transferId: bigint, parts: ReadonlyArray<ArchivePart>, entries: ReadonlyArray<PlacedEntry>) {
          for (const part of parts) {
            const row = "head" in part
              ? { place: part.place, head: part.head, bytes: part.head.length }
              : { place: part.place, fileName: part.fileName, bytes: part.bytes }
            yield* sql`INSERT INTO archive_parts ${sql.insert({ transferId, ...row })}`
            if ("fileName" in part && !(yield* fileOwners.hold([part.fileName], { transferId }))) {
              return yield* new Conflict()
            }
          }
          if (entries.length === 0) return
          yield* sql`INSERT INTO archive_entries (transfer_id, place, part_offset, path, deflated, crc, size, stored_size)
            SELECT ${transferId}, e.* FROM unnest(${entries.map(({ place }) => place)}::int[],
              ${entries.map(({ offset }) => offset)}::int[], ${entries.map(({ path }) => path)}::text[],
              ${entries.map(({ deflated }) => deflated)}::boolean[], ${entries.map(({ crc }) => BigInt(crc))}::bigint[],
              ${entries.map(({ size }) => BigInt(size))}::bigint[], ${
            entries.map(({ storedSize }) => BigInt(storedSize))
          }::bigint[]) e`
        }
      )

      const directory = (transferId: bigint, at: Date) =>
        Stream.unwrap(Effect.gen(function*() {
          const offsets = new Map<number, number>()
          let end = 0
          for (const { bytes, place } of yield* partsOf(transferId)) {
            offsets.set(place, end)
            end += Number(bytes)
          }
          let [count, length] = [0, 0]
          const pages = Stream.unfold(
            { place: -1, partOffset: 0 },
            Effect.fnUntraced(function*(after) {
              const rows = yield* entryRows(sql`SELECT place, part_offset, path, deflated, crc, size, stored_size
                FROM archive_entries WHERE transfer_id = ${transferId}
                  AND (place, part_offset) > (${after.place}, ${after.partOffset})
                ORDER BY place, part_offset LIMIT ${rowsMax(sql, entriesPerPage)}`)
              const last = rows.at(-1)
              if (last === undefined) return undefined
              const page = Buffer.concat(rows.map(({ crc, partOffset, place, size, storedSize, ...entry }) =>
                directoryEntry(
                  { ...entry, crc: Number(crc), size: Number(size), storedSize: Number(storedSize) },
                  at,
                  (offsets.get(place) ?? 0) + partOffset
                )
              ))
              count += rows.length
              length += page.length
              return [page, last] as const
            })
          )
          return Stream.concat(
            pages,
            Stream.suspend(() =>
              Stream.make(directoryEnd(count, length, end))
            )
          )
        }))

      const read = (transferId: bigint, { length, offset }: Range) =>
        Stream.unwrap(Effect.map(partsOf(transferId), (parts) => {
          let start = 0
          const pieces = parts.flatMap((part) => {
            const from = Math.max(offset - start, 0)
            const until = Math.min(offset + length - start, Number(part.bytes))
            start += Number(part.bytes)
            return from >= until ? [] : [{ part, from, until }]
          })
          return Stream.fromIterable(pieces).pipe(
            Stream.flatMap(({ from, part, until }): Stream.Stream<Uint8Array, StorageFailed> =>
              part.fileName === null
                ? Stream.make(part.head.subarray(from, until))
                : storage.read(part.fileName, { offset: from, length: until - from })
            )
          )
        }))

      const remove = traced("ArchiveParts.remove")(function*(transferId: bigint) {
        const rows = yield* partRows(sql`WITH listed AS (DELETE FROM archive_entries WHERE transfer_id = ${transferId})
          DELETE FROM archive_parts WHERE transfer_id = ${transferId} RETURNING place, head, file_name, bytes`)
        const names = rows.flatMap(({ fileName }) => fileName ?? [])
        yield* fileOwners.release(names)
        return names
      })

      return ArchiveParts.of({ add, directory, size: traced("ArchiveParts.size")(size), read, remove })
    })
  )
}
