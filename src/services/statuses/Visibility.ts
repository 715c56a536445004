import { Schema } from "effect"
import type { SqlClient } from "effect/sql/SqlClient"
import { type Fragment, isFragment } from "effect/sql/Statement"
import { blocks } from "../visibility/HiddenAccounts.ts"
import { isSuspended } from "../visibility/SuspendedAccounts.ts"
import type { Viewer } from "../visibility/Viewer.ts"

/** Visibilities, widest first. */
export const Visibility = Schema.Literals(["public", "unlisted", "private", "direct"])
export type Visibility = typeof Visibility.Type

/** Default visibilities of an account's new statuses; direct ones need a recipient. */
export const DefaultVisibility = Schema.Literals(["public", "unlisted", "private"])

/** Returns true for public and unlisted: everyone, or everyone on this server if `localOnly`. */
export const isPublicOrUnlisted = (visibility: Visibility): boolean =>
  visibility === "public" || visibility === "unlisted"

/** Condition: like `isPublicOrUnlisted`, for a row under `alias`. */
export const isPublicOrUnlistedRow = (sql: SqlClient, alias: string): Fragment =>
  sql.literal(`${alias}.visibility IN ('public', 'unlisted')`)

/** Condition: a row under `alias` is visible to everyone, signed in or not, local or remote. */
export const isPublicRow = (sql: SqlClient, alias: string): Fragment =>
  sql.literal(`(${alias}.visibility IN ('public', 'unlisted') AND NOT ${alias}.local_only)`)

/**
 * Condition: a row under `alias` is shown on public streams and hashtags: public, not a boost, by an account that is
 * not limited.
 */
export const isBroadcast = (sql: SqlClient, alias: string): Fragment =>
  sql.literal(
    `(${alias}.visibility = 'public' AND ${alias}.reblog_of_id IS NULL AND NOT EXISTS (SELECT FROM accounts quiet
    WHERE quiet.id = ${alias}.account_id AND quiet.silenced_at IS NOT NULL OFFSET 0))`
  )

/*
 * The rules for who may see a status, once in TypeScript and once in SQL; a property test holds both
 * equal. Accounts that the author blocks cannot see it. Deleted statuses and those of suspended authors are invisible.
 * Private ones are visible to followers, direct ones to mentioned accounts; silent mentions do not count. Of these
 * viewers, only local accounts see local-only statuses; signed-out viewers never do. A boost also requires that its
 * original is visible.
 */

/** Facts about a status that decide its visibility. */
export interface StatusFacts {
  readonly id: bigint
  readonly accountId: bigint
  readonly visibility: Visibility
  readonly localOnly: boolean
  readonly deleted: boolean
  readonly authorSuspended: boolean
  /** Original of a boost. */
  readonly reblogOf: StatusFacts | undefined
}

/** Relations of a viewer to authors (by account id) and statuses (by status id). */
export interface RelationFacts {
  /** A local account. */
  readonly member: boolean
  readonly follows: (author: bigint) => boolean
  readonly blockedBy: (author: bigint) => boolean
  /** Mentioned, and not silently. */
  readonly mentionedIn: (status: bigint) => boolean
}

/** Returns true if `viewer` may see the status. */
export const canSee = (viewer: Viewer, status: StatusFacts, relations: RelationFacts): boolean =>
  isOpenTo(viewer, status, relations) &&
  (status.reblogOf === undefined || isOpenTo(viewer, status.reblogOf, relations))

const isOpenTo = (viewer: Viewer, status: StatusFacts, relations: RelationFacts): boolean => {
  if (status.deleted || status.authorSuspended) return false
  if (viewer === undefined) return isPublicOrUnlisted(status.visibility) && !status.localOnly
  if (status.localOnly && !relations.member) return false
  if (relations.blockedBy(status.accountId)) return false
  return isPublicOrUnlisted(status.visibility) || status.accountId === viewer || relations.mentionedIn(status.id) ||
    (status.visibility === "private" && relations.follows(status.accountId))
}

/** Facts about the rows that are known before the query. */
interface KnownRows {
  /** Single author of all rows: author conditions are then evaluated once, instead of for each row. */
  readonly author?: bigint
  /** Deleted rows may be visible, too. */
  readonly deletedToo?: true
  /** The viewer is a local account. */
  readonly member?: true
}

/**
 * Condition: `viewer` may see a row of `statuses` under `alias`; the SQL form of `canSee`. `viewer` is an id, an SQL
 * expression of one, or undefined if signed out. Subqueries end in OFFSET 0, so that Postgres looks up single rows and
 * never hashes all mentions or blocks of a popular account. `also` returns a further condition on the author of a
 * boost's original, an expression of the author's id.
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
  if (viewer === undefined) return sql`${standing} AND ${isPublicRow(sql, alias)}`
  const local = member ? sql`` : sql`AND (NOT ${s}.local_only OR EXISTS (SELECT FROM users member
    WHERE member.account_id = ${viewer} OFFSET 0)) `
  return sql`${standing} AND (${isPublicOrUnlistedRow(sql, alias)} OR ${s}.account_id = ${viewer}
    OR (${s}.visibility = 'private' AND EXISTS (SELECT FROM follows follow
      WHERE follow.account_id = ${viewer} AND follow.target_account_id = ${by} OFFSET 0))
    OR EXISTS (SELECT FROM mentions mention
      WHERE mention.status_id = ${s}.id AND mention.account_id = ${viewer} AND NOT mention.silent OFFSET 0))
    ${local}AND NOT ${blocks(sql, by, viewer)}`
}

/**
 * Condition: `isBroadcast` and `visibleTo` in one, for local or signed-out viewers. For such rows follows, mentions and
 * originals do not matter, so each account is looked up once.
 */
export const broadcastTo = (sql: SqlClient, viewer: bigint | undefined, alias: string): Fragment => {
  const s = sql.literal(alias)
  const closed = viewer === undefined ? sql`${s}.local_only` : blocks(sql, sql`${s}.account_id`, sql`${viewer}::bigint`)
  return sql`(${s}.deleted_at IS NULL AND ${s}.visibility = 'public' AND ${s}.reblog_of_id IS NULL AND NOT ${closed}
    AND NOT EXISTS (SELECT FROM accounts quiet WHERE quiet.id = ${s}.account_id
      AND (quiet.silenced_at IS NOT NULL OR quiet.suspended_at IS NOT NULL) OFFSET 0))`
}
