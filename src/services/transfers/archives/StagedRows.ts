import { Effect } from "effect"
import type { SqlClient } from "effect/sql/SqlClient"
import type { FileOwners } from "../../media/FileOwners.ts"

/** An item of an import before it is examined: an activity as JSON. */
export interface StagedRow {
  readonly publishedAt: Date
  readonly place: number
  readonly activity: string
}

/** A stored file without an owner, with its path in the archive, or its URL, and its type by its content. */
interface StagedFile {
  readonly path: string
  readonly name: string
  readonly type: string
  readonly bytes: number
}

/** Stores items of an import; those that were stored before remain. */
export const insertItems = (sql: SqlClient, transferId: bigint, rows: ReadonlyArray<StagedRow>) =>
  Effect.asVoid(sql`INSERT INTO archive_items (transfer_id, published_at, place, activity)
    SELECT ${transferId}, i.* FROM unnest(${rows.map(({ publishedAt }) => publishedAt)}::timestamptz[],
      ${rows.map(({ place }) => place)}::int[], ${rows.map(({ activity }) => activity)}::text[]) i
    ON CONFLICT DO NOTHING`)

/** Gives a file to an import; returns false if the import has one of the same path. */
export const holdFile = Effect.fnUntraced(function*(
  sql: SqlClient,
  fileOwners: FileOwners["Service"],
  transferId: bigint,
  file: StagedFile
) {
  const added = yield* sql`INSERT INTO archive_files ${
    sql.insert({ transferId, ...file })
  } ON CONFLICT DO NOTHING RETURNING path`
  if (added.length === 0) return false
  const held = yield* fileOwners.hold([file.name], { transferId })
  if (!held) return yield* Effect.die(new Error("A file of an archive was swept before it had an owner"))
  return true
})
