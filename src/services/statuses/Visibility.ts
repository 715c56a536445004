import { Schema } from "effect"
import type { SqlClient } from "effect/sql/SqlClient"
import { type Fragment, isFragment } from "effect/sql/Statement"
import { blocks } from "../HiddenAccounts.ts"
import { isSuspended } from "../SuspendedAccounts.ts"
import type { Viewer } from "../Viewer.ts"

/** For whom a status is: the widest first. */
export const Visibility = Schema.Literals(["public", "unlisted", "private", "direct"])
export type Visibility = typeof Visibility.Type

/** What an account may choose for its new statuses; direct ones are for somebody. */
export const DefaultVisibility = Schema.Literals(["public", "unlisted", "private"])

/** For everybody, or for everybody on this server where it is for them alone. */
export const isOpen = (visibility: Visibility): boolean => visibility === "public" || visibility === "unlisted"

/** The same of a row under `alias`. */
export const isWideRow = (sql: SqlClient, alias: string): Fragment =>
  sql.literal(`${alias}.visibility IN ('public', 'unlisted')`)

/** For everybody, signed in or not, here and elsewhere: a row under `alias`. */
export const isOpenRow = (sql: SqlClient, alias: string): Fragment =>
  sql.literal(`(${alias}.visibility IN ('public', 'unlisted') AND NOT ${alias}.local_only)`)

/** What streams and hashtags show to everybody, a row under `alias`: public, no reblog, by an account that is not silenced. */
export const isBroadcast = (sql: SqlClient, alias: string): Fragment =>
  sql.literal(
    `(${alias}.visibility = 'public' AND ${alias}.reblog_of_id IS NULL AND NOT EXISTS (SELECT FROM accounts quiet
    WHERE quiet.id = ${alias}.account_id AND quiet.silenced_at IS NOT NULL OFFSET 0))`
  )

/*
 * THE decision who may read a status (house rule 7), once in TypeScript and once in SQL; a property test holds both
 * equal. An account that its author blocks sees nothing of a status. Nobody sees a deleted one, or one of a suspended
 * author; private ones are for followers, direct ones for the mentioned, where a silent mention counts for nothing; what is
 * local-only is seen, of all of these, by people of this server alone, and by nobody who is not signed in; a reblog is seen by
 * who sees the original as well.
 */

/** What a status is, as far as reading it is concerned. */
export interface StatusFacts {
  readonly id: bigint
  readonly accountId: bigint
  readonly visibility: Visibility
  readonly localOnly: boolean
  readonly deleted: boolean
  readonly authorSuspended: boolean
  /** The original, where the status is a reblog. */
  readonly reblogOf: StatusFacts | undefined
}

/** Who a viewer is, and how they stand to authors (by account id) and statuses (by status id). */
export interface RelationFacts {
  /** Somebody of this server. */
  readonly member: boolean
  readonly follows: (author: bigint) => boolean
  readonly blockedBy: (author: bigint) => boolean
  /** Mentioned, and not silently. */
  readonly mentionedIn: (status: bigint) => boolean
}

/** Whether `viewer` may read the status. */
export const canSee = (viewer: Viewer, status: StatusFacts, relations: RelationFacts): boolean =>
  isOpenTo(viewer, status, relations) &&
  (status.reblogOf === undefined || isOpenTo(viewer, status.reblogOf, relations))

const isOpenTo = (viewer: Viewer, status: StatusFacts, relations: RelationFacts): boolean => {
  if (status.deleted || status.authorSuspended) return false
  if (viewer === undefined) return isOpen(status.visibility) && !status.localOnly
  if (status.localOnly && !relations.member) return false
  if (relations.blockedBy(status.accountId)) return false
  return isOpen(status.visibility) || status.accountId === viewer || relations.mentionedIn(status.id) ||
    (status.visibility === "private" && relations.follows(status.accountId))
}

/** What is known of rows before they are asked about. */
interface KnownRows {
  /** The one author of all: what concerns the author is then asked once instead of once a row. */
  readonly author?: bigint
  /** Rows that are deleted may be seen as well. */
  readonly deletedToo?: true
  /** The viewer is somebody of this server. */
  readonly member?: true
}

/**
 * The same decision for a row of `statuses` under `alias`, as a condition for any query. `viewer` is an id, an SQL
 * expression of one, or undefined for nobody. Subqueries end in OFFSET 0: Postgres looks single rows up and never
 * hashes all mentions or blocks of somebody well known. `also` is what else has to hold of the author of the original of a
 * reblog, an expression of the author's id.
 */
export const visibleTo = (
  sql: SqlClient,
  viewer: bigint | Fragment | undefined,
  alias: string,
  known: KnownRows = {},
  also: (author: Fragment) => Fragment = () => sql``
): Fragment => {
  const reader = viewer === undefined || isFragment(viewer) ? viewer : sql`${viewer}::bigint`
  const s = sql.literal(alias)
  const o = `${alias}_original`
  const { deletedToo, member } = known
  const standing = deletedToo ? sql`` : sql`${s}.deleted_at IS NULL AND `
  return sql`(${standing}${openTo(sql, reader, alias, known)} AND (${s}.reblog_of_id IS NULL OR EXISTS (
    SELECT FROM statuses ${sql.literal(o)} WHERE ${sql.literal(o)}.id = ${s}.reblog_of_id
      AND ${sql.literal(o)}.deleted_at IS NULL AND ${openTo(sql, reader, o, member ? { member } : {})}${
    also(sql.literal(`${o}.account_id`))
  } OFFSET 0)))`
}

const openTo = (
  sql: SqlClient,
  viewer: Fragment | undefined,
  alias: string,
  { author, member }: KnownRows
): Fragment => {
  const s = sql.literal(alias)
  const by = author === undefined ? sql`${s}.account_id` : sql`${author}::bigint`
  const standing = sql`NOT ${isSuspended(sql, by)}`
  if (viewer === undefined) return sql`${standing} AND ${isOpenRow(sql, alias)}`
  const local = member ? sql`` : sql`AND (NOT ${s}.local_only OR EXISTS (SELECT FROM users member
    WHERE member.account_id = ${viewer} OFFSET 0)) `
  return sql`${standing} AND (${isWideRow(sql, alias)} OR ${s}.account_id = ${viewer}
    OR (${s}.visibility = 'private' AND EXISTS (SELECT FROM follows follow
      WHERE follow.account_id = ${viewer} AND follow.target_account_id = ${by} OFFSET 0))
    OR EXISTS (SELECT FROM mentions mention
      WHERE mention.status_id = ${s}.id AND mention.account_id = ${viewer} AND NOT mention.silent OFFSET 0))
    ${local}AND NOT ${blocks(sql, by, viewer)}`
}

/**
 * `isBroadcast` and the decision in one for somebody of this server, or for nobody: of such rows neither follows nor mentions
 * nor an original count, and an account is looked up once.
 */
export const broadcastTo = (sql: SqlClient, viewer: bigint | undefined, alias: string): Fragment => {
  const s = sql.literal(alias)
  const closed = viewer === undefined ? sql`${s}.local_only` : blocks(sql, sql`${s}.account_id`, sql`${viewer}::bigint`)
  return sql`(${s}.deleted_at IS NULL AND ${s}.visibility = 'public' AND ${s}.reblog_of_id IS NULL AND NOT ${closed}
    AND NOT EXISTS (SELECT FROM accounts quiet WHERE quiet.id = ${s}.account_id
      AND (quiet.silenced_at IS NOT NULL OR quiet.suspended_at IS NOT NULL) OFFSET 0))`
}
