import { Schema, Struct } from "effect"
import type { SqlClient } from "effect/sql/SqlClient"
import type { Fragment } from "effect/sql/Statement"
import { columnsOf } from "../database/Columns.ts"
import { Revised, StoredStatus } from "./StoredStatus.ts"
import { writtenDefaults } from "./Written.ts"

/*
 * The only INSERT and the only UPDATE of `statuses`, for local posts, remote posts and boosts. The columns come from
 * `StoredStatus`, so every declared field is written.
 */

/** A status to insert; its conversation is null if it starts one. */
const NewStatus = Schema.Struct({
  ...Struct.omit(StoredStatus.fields, ["id", "editedAt", "deletedAt"]),
  conversationId: Schema.NullOr(Schema.BigInt)
})
export type NewStatus = typeof NewStatus.Type

const inserted = columnsOf(NewStatus)
const stored = columnsOf(StoredStatus)
export const revised = columnsOf(Revised)

/** Defaults of a new status. */
export const defaultColumns = {
  ...writtenDefaults,
  uri: null,
  url: null,
  local: true,
  text: "",
  contentType: "text/plain",
  html: "",
  limited: false,
  localOnly: false,
  interactionPolicy: null,
  inReplyToId: null,
  inReplyToAccountId: null,
  inReplyToUri: null,
  reblogOfId: null,
  conversationId: null,
  applicationId: null,
  imported: false,
  mediaIds: []
} satisfies Partial<NewStatus>

/** Selects statuses with ids of their time; `place` is the index, from 1. */
export const withIds = (sql: SqlClient, statuses: ReadonlyArray<NewStatus>): Fragment =>
  sql`SELECT next_id((extract(epoch FROM given.created_at) * 1000)::bigint) AS id, given.*
    FROM ${inserted.fromRows(sql, statuses)}`

/** Returns `withIds` as the CTE `fresh`. */
export const newRows = (sql: SqlClient, statuses: ReadonlyArray<NewStatus>): Fragment =>
  sql`fresh AS MATERIALIZED (${withIds(sql, statuses)})`

/** Returns the INSERT of `fresh`; `joined` are further joins, `instead` replaces columns by expressions. */
export const insertion = (
  sql: SqlClient,
  joined: Fragment,
  instead: { readonly [Field in keyof NewStatus]?: Fragment }
): Fragment => {
  const { names, values } = inserted.columnsAndValues(sql, "fresh", instead)
  return sql`INSERT INTO statuses (id, ${names}) SELECT fresh.id, ${values} FROM fresh${joined}`
}

/** Returns the start of an UPDATE of statuses, to values or expressions; append its other clauses. */
export const update = (
  sql: SqlClient,
  change: { readonly [Field in keyof StoredStatus]?: StoredStatus[Field] | Fragment }
): Fragment => sql`UPDATE statuses SET ${stored.setClause(sql, change)}`
