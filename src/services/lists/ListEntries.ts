import { Clock, Effect, Schema, Struct } from "effect"
import type { SqlClient } from "effect/sql/SqlClient"
import { rowsOf, singleRow, Timestamptz } from "../database/Rows.ts"
import { transaction } from "../database/Transactions.ts"
import { ListReadFailed, type ListReading } from "./FiresDataset.ts"
import { listEntriesMax, type ListEntry } from "./ListEntry.ts"
import { ModerationList } from "./ModerationLists.ts"

/** A list with the position in its changes. */
export const FollowedList = Schema.Struct({
  ...ModerationList.fields,
  changesFrom: Schema.NullOr(Schema.String),
  /** End of the claim, or time of the next sync. */
  dueAt: Timestamptz,
  wholeAt: Schema.NullOr(Timestamptz)
})
export type FollowedList = typeof FollowedList.Type
const cursorRows = rowsOf(FollowedList.mapFields(Struct.pick(["changesFrom", "url"])))
const sizeRows = rowsOf(Schema.Struct({ size: Schema.Int }))

/** Returns a function that stores the entries of lists. Call it once. */
export const make = (sql: SqlClient) => {
  const write = (listId: bigint, entries: ReadonlyArray<ListEntry>) => {
    const text = JSON.stringify(entries.map((entry) => [
      entry.domain,
      entry.action,
      entry.rejectMedia,
      entry.rejectReports,
      entry.publicComment,
      entry.obfuscate
    ]))
    return sql`INSERT INTO moderation_list_entries (list_id, domain, action, reject_media, reject_reports, public_comment,
        obfuscate)
      SELECT ${listId}, e->>0, e->>1, (e->>2)::boolean, (e->>3)::boolean, e->>4, (e->>5)::boolean
      FROM jsonb_array_elements(${text}::jsonb) e`
  }

  /** Stores a reading. Changes are ignored if the list's cursor has changed since they were requested. */
  return (list: FollowedList, reading: ListReading) =>
    transaction(sql)(Effect.gen(function*() {
      const [now] = yield* cursorRows(
        sql`SELECT changes_from, url FROM moderation_lists WHERE id = ${list.id} FOR UPDATE`
      )
      if (now === undefined || (!reading.isComplete && now.changesFrom !== list.changesFrom)) return
      const at = new Date(yield* Clock.currentTimeMillis)
      if (reading.isComplete) {
        yield* sql`DELETE FROM moderation_list_entries WHERE list_id = ${list.id}`
        yield* write(list.id, reading.entries)
      } else {
        yield* sql`DELETE FROM moderation_list_entries WHERE list_id = ${list.id}
          AND domain = ANY (${[...reading.changes.keys()]}::text[])`
        yield* write(list.id, [...reading.changes.values()].flatMap((entry) => entry ?? []))
        const { size } = singleRow(
          yield* sizeRows(sql`SELECT count(*)::int AS size FROM moderation_list_entries WHERE list_id = ${list.id}`)
        )
        if (size > listEntriesMax) return yield* new ListReadFailed({ why: "it is too long" })
      }
      // The cursor belongs to the former URL.
      const cursor = now.url === list.url ? reading.cursor : null
      yield* sql`UPDATE moderation_lists SET changes_from = ${cursor},
        whole_at = CASE WHEN ${reading.isComplete} THEN ${at}::timestamptz ELSE whole_at END WHERE id = ${list.id}`
    }))
}
