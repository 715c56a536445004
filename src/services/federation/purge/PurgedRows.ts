import { Effect, Schema } from "effect"
import type { SqlClient } from "effect/sql/SqlClient"
import type { Fragment } from "effect/sql/Statement"
import { accountIdRows, rowsOf } from "../../database/Rows.ts"

const statusIdRows = rowsOf(Schema.Struct({ statusId: Schema.BigInt }))
const relationRows = rowsOf(Schema.Struct({ accountId: Schema.BigInt, targetAccountId: Schema.BigInt }))

/*
 * Removes an account's rows other than posts, in slices, and corrects the counters of other accounts and of statuses.
 */

/** Maximum rows that one slice removes. */
const leftoversMax = 500

/** Other accounts and statuses whose counters or rows a slice changed, and accounts whose relations it changed. */
export interface PurgedSlice {
  readonly accountIds: ReadonlyArray<bigint>
  readonly statusIds: ReadonlyArray<bigint>
  readonly relationIds: ReadonlyArray<bigint>
}

const nothing: PurgedSlice = { accountIds: [], statusIds: [], relationIds: [] }
const rows = (sql: SqlClient) => sql.literal(String(leftoversMax))
/** Returns the outcome of a slice; undefined if nothing was removed. */
const slice = <A>(
  deleted: ReadonlyArray<A>,
  changed: (deleted: ReadonlyArray<A>) => Partial<PurgedSlice>
): PurgedSlice | undefined => deleted.length === 0 ? undefined : { ...nothing, ...changed(deleted) }
const ofStatuses = (deleted: ReadonlyArray<{ readonly statusId: bigint }>) =>
  slice(deleted, (all) => ({ statusIds: all.map(({ statusId }) => statusId) }))

/** Follows in both directions, with the counters of all accounts involved. */
const follows = (sql: SqlClient, id: bigint) =>
  Effect.map(
    accountIdRows(sql`
      WITH gone AS (DELETE FROM follows WHERE id IN (
        SELECT id FROM follows WHERE account_id = ${id} OR target_account_id = ${id} ORDER BY id LIMIT ${rows(sql)})
        RETURNING account_id, target_account_id),
      figures AS MATERIALIZED (SELECT account_id, sum(following)::int AS following, sum(followers)::int AS followers FROM (
        SELECT account_id, 1 AS following, 0 AS followers FROM gone
        UNION ALL SELECT target_account_id, 0, 1 FROM gone) sides GROUP BY account_id),
      locked AS MATERIALIZED (SELECT account_id FROM account_stats WHERE account_id IN (SELECT account_id FROM figures)
        ORDER BY account_id FOR UPDATE),
      changed AS (UPDATE account_stats s SET following_count = s.following_count - f.following,
        followers_count = s.followers_count - f.followers
        FROM figures f JOIN locked USING (account_id) WHERE s.account_id = f.account_id)
      SELECT account_id FROM figures`),
    (deleted) =>
      slice(deleted, (all) => {
        const accountIds = all.map(({ accountId }) => accountId)
        return { accountIds, relationIds: accountIds }
      })
  )

const favourites = (sql: SqlClient, id: bigint) =>
  Effect.map(
    statusIdRows(sql`
      WITH gone AS (DELETE FROM favourites WHERE id IN (
        SELECT id FROM favourites WHERE account_id = ${id} ORDER BY id LIMIT ${rows(sql)}) RETURNING status_id),
      locked AS MATERIALIZED (SELECT status_id FROM status_stats WHERE status_id IN (SELECT status_id FROM gone)
        ORDER BY status_id FOR UPDATE),
      changed AS (UPDATE status_stats s SET favourites_count = s.favourites_count - 1
        FROM locked WHERE s.status_id = locked.status_id)
      SELECT status_id FROM gone`),
    ofStatuses
  )

const reactions = (sql: SqlClient, id: bigint) => {
  const isSameEmoji = sql.literal(
    "c.status_id = g.status_id AND c.name = g.name AND coalesce(c.custom_emoji_id, 0) = coalesce(g.custom_emoji_id, 0)"
  )
  return Effect.map(
    statusIdRows(sql`
      WITH gone AS (DELETE FROM emoji_reactions WHERE id IN (
        SELECT id FROM emoji_reactions WHERE account_id = ${id} ORDER BY id LIMIT ${rows(sql)})
        RETURNING status_id, name, custom_emoji_id),
      locked AS MATERIALIZED (SELECT status_id FROM status_stats WHERE status_id IN (SELECT status_id FROM gone)
        ORDER BY status_id FOR UPDATE),
      changed AS (UPDATE status_stats s SET reactions_count = s.reactions_count - g.reactions
        FROM (SELECT status_id, count(*)::int AS reactions FROM gone GROUP BY status_id) g JOIN locked USING (status_id)
        WHERE s.status_id = g.status_id),
      fewer AS (UPDATE emoji_reaction_counts c SET count = c.count - 1 FROM gone g JOIN locked USING (status_id)
        WHERE c.count > 1 AND ${isSameEmoji}),
      none AS (DELETE FROM emoji_reaction_counts c USING gone g JOIN locked USING (status_id)
        WHERE c.count <= 1 AND ${isSameEmoji})
      SELECT DISTINCT status_id FROM gone`),
    ofStatuses
  )
}

/** Votes in local polls, whose counts come from the votes (I20). */
const votes = (sql: SqlClient, id: bigint) =>
  Effect.map(
    statusIdRows(sql`
      WITH voted AS MATERIALIZED (SELECT DISTINCT status_id FROM poll_votes WHERE account_id = ${id}
        ORDER BY status_id LIMIT ${rows(sql)}),
      locked AS MATERIALIZED (SELECT status_id FROM polls WHERE status_id IN (SELECT status_id FROM voted)
        ORDER BY status_id FOR UPDATE),
      gone AS (DELETE FROM poll_votes WHERE account_id = ${id} AND status_id IN (SELECT status_id FROM locked)
        RETURNING status_id, choice),
      changed AS (UPDATE polls p SET voters_count = p.voters_count - 1,
        counts = ARRAY(SELECT n - (SELECT count(*)::int FROM gone g WHERE g.status_id = p.status_id AND g.choice = at - 1)
          FROM unnest(p.counts) WITH ORDINALITY o (n, at) ORDER BY at)
        FROM statuses s WHERE s.id = p.status_id AND s.local AND p.status_id IN (SELECT status_id FROM gone))
      SELECT DISTINCT status_id FROM gone`),
    ofStatuses
  )

/** Deletes rows whose column has the account's id, and returns `returned` of them. */
const deleted = (sql: SqlClient, table: string, column: string, id: bigint, returned: string) =>
  sql`DELETE FROM ${sql(table)} WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM ${sql(table)} WHERE ${sql(column)} = ${id} LIMIT ${rows(sql)})) RETURNING ${sql.literal(returned)}`

/** Rows without counters that no cache shows. */
const plain = (table: string, column: string) => (sql: SqlClient, id: bigint) =>
  Effect.map(deleted(sql, table, column, id, "1"), (deleted) => slice(deleted, () => nothing))

/** Relations of the account to other accounts. */
const relations = (table: string, column: string) => (sql: SqlClient, id: bigint) =>
  Effect.map(
    relationRows(deleted(sql, table, column, id, "account_id, target_account_id")),
    (deleted) =>
      slice(deleted, (all) => ({
        relationIds: all.flatMap(({ accountId, targetAccountId }) => [accountId, targetAccountId])
      }))
  )

/** Relations of the account to domains and conversations. */
const ownRelations = (table: string) => (sql: SqlClient, id: bigint) =>
  Effect.map(deleted(sql, table, "account_id", id, "1"), (deleted) => slice(deleted, () => ({ relationIds: [id] })))

/** Rows that link the account to statuses. */
const ofStatus = (table: string) => (sql: SqlClient, id: bigint) =>
  Effect.map(statusIdRows(deleted(sql, table, "account_id", id, "status_id")), ofStatuses)

/** Uploads that are not attached to a post. */
const drafts = (sql: SqlClient, id: bigint) =>
  Effect.map(
    sql`DELETE FROM media_attachments WHERE id IN (SELECT id FROM media_attachments
      WHERE account_id = ${id} AND status_id IS NULL LIMIT ${rows(sql)}) RETURNING 1`,
    (deleted) => slice(deleted, () => nothing)
  )

/** Rows of the account's transfers, which are many; `transfers` follows. */
const ofTransfers = (table: string) => (sql: SqlClient, id: bigint) =>
  Effect.map(
    sql`DELETE FROM ${sql(table)} WHERE ctid = ANY (ARRAY(SELECT l.ctid FROM ${sql(table)} l
      JOIN transfers t ON t.id = l.transfer_id WHERE t.account_id = ${id} LIMIT ${rows(sql)})) RETURNING 1`,
    (deleted) => slice(deleted, () => nothing)
  )

/** Transfers without a token of another server; the others are deleted once their token is revoked. */
const transfers = (sql: SqlClient, id: bigint) =>
  Effect.map(
    sql`DELETE FROM transfers WHERE ctid = ANY (ARRAY(SELECT ctid FROM transfers
      WHERE account_id = ${id} AND options -> 'secrets' IS NULL LIMIT ${rows(sql)})) RETURNING 1`,
    (deleted) => slice(deleted, () => nothing)
  )

/** Pending favourites; pending replies and reblogs are removed with their posts. */
const asked = (sql: SqlClient, id: bigint) =>
  Effect.map(
    statusIdRows(sql`DELETE FROM interaction_requests WHERE id IN (SELECT id FROM interaction_requests
      WHERE account_id = ${id} AND interaction_id IS NULL LIMIT ${rows(sql)}) RETURNING status_id`),
    ofStatuses
  )

const columns = ["account_id", "target_account_id"]
const onEitherSide = (table: string) => columns.map((column) => plain(table, column))
const relationsOnEitherSide = (table: string) => columns.map((column) => relations(table, column))

const all = [
  // Before follows: a request that is being accepted is locked, and is a follow afterwards.
  ...relationsOnEitherSide("follow_requests"),
  follows,
  favourites,
  asked,
  reactions,
  votes,
  ...["blocks", "mutes", "endorsements"].flatMap(relationsOnEitherSide),
  ...["account_notes", "dismissed_suggestions"].flatMap(onEitherSide),
  plain("move_followers", "account_id"),
  plain("move_followers", "follower_id"),
  plain("notifications", "from_account_id"),
  plain("encrypted_messages", "from_account_id"),
  plain("notification_permissions", "from_account_id"),
  plain("notification_requests", "from_account_id"),
  // Tables with rows of local accounts only.
  drafts,
  ...["transfer_lines", "archive_items", "archive_files", "archive_entries", "archive_parts"].map(ofTransfers),
  transfers,
  ...[
    "notifications",
    "notification_permissions",
    "notification_policies",
    "notification_requests",
    "annual_reports",
    "announcement_dismissals",
    "announcement_reactions",
    "devices",
    "account_conversations",
    "lists",
    "filters",
    "markers",
    "post_cleanups",
    "archive_schedules",
    "imported_statuses",
    "scheduled_statuses",
    "severances",
    "tag_follows",
    "collections",
    "collection_items"
  ].map((table) => plain(table, "account_id")),
  ...["bookmarks", "mentions", "status_pins"].map(ofStatus),
  ...["conversation_mutes", "domain_mutes"].map(ownRelations),
  plain("featured_tags", "account_id"),
  plain("list_accounts", "account_id"),
  plain("popular_accounts", "account_id"),
  plain("account_intents", "account_id"),
  plain("commands", "account_id"),
  plain("email_digest_posts", "account_id"),
  plain("email_digests", "account_id"),
  plain("email_subscriptions", "account_id"),
  plain("fanouts", "account_id")
]

/** Removes a slice of the first kind that has rows; undefined if nothing is left. */
export const deleteBatch = Effect.fnUntraced(function*(sql: SqlClient, id: bigint) {
  for (const kind of all) {
    const changed = yield* kind(sql, id)
    if (changed !== undefined) return changed
  }
  return undefined
})

/** SQL condition for posts (`alias`) in open reports, which are kept for moderators (S-066). */
export const isReported = (sql: SqlClient, alias: string): Fragment =>
  sql`EXISTS (SELECT FROM reports t WHERE t.action_taken_at IS NULL AND t.status_ids @> ARRAY[${
    sql.literal(alias)
  }.id] OFFSET 0)`
