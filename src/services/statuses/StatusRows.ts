import { Schema, Struct } from "effect"
import type { SqlClient } from "effect/sql/SqlClient"
import type { Fragment } from "effect/sql/Statement"
import { columnsOf } from "../Columns.ts"
import { Revised, StoredStatus } from "./StoredStatus.ts"
import { unwritten } from "./Written.ts"

/*
 * The one INSERT and the one UPDATE of `statuses`, for posts of this server, of others, and reblogs: their columns come from
 * `StoredStatus`, so that a field that is declared there is written.
 */

/** A status that is to be stored. Its conversation is null where it begins one. */
const NewStatus = Schema.Struct({
  ...Struct.omit(StoredStatus.fields, ["id", "editedAt", "deletedAt"]),
  conversationId: Schema.NullOr(Schema.BigInt)
})
export type NewStatus = typeof NewStatus.Type

const inserted = columnsOf(NewStatus)
const stored = columnsOf(StoredStatus)
export const revised = columnsOf(Revised)

/** What a status is that says nothing else of itself. */
export const blank = {
  ...unwritten,
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
  mediaIds: []
} satisfies Partial<NewStatus>

/** Selects statuses with ids of their time; `place` is where one stands among them, from 1. */
export const minted = (sql: SqlClient, statuses: ReadonlyArray<NewStatus>): Fragment =>
  sql`SELECT next_id((extract(epoch FROM given.created_at) * 1000)::bigint) AS id, given.*
    FROM ${inserted.given(sql, statuses)}`

/** The same as `fresh` of a WITH. */
export const fresh = (sql: SqlClient, statuses: ReadonlyArray<NewStatus>): Fragment =>
  sql`fresh AS MATERIALIZED (${minted(sql, statuses)})`

/** Stores what is `fresh`; `joined` is what else is in the FROM, `instead` what its columns are where not as they were given. */
export const insertion = (
  sql: SqlClient,
  joined: Fragment,
  instead: { readonly [Field in keyof NewStatus]?: Fragment }
): Fragment => {
  const { names, values } = inserted.taken(sql, "fresh", instead)
  return sql`INSERT INTO statuses (id, ${names}) SELECT fresh.id, ${values} FROM fresh${joined}`
}

/** Changes statuses, to values or expressions of them; it is followed by what else an UPDATE has. */
export const update = (
  sql: SqlClient,
  change: { readonly [Field in keyof StoredStatus]?: StoredStatus[Field] | Fragment }
): Fragment => sql`UPDATE statuses SET ${stored.assigned(sql, change)}`
