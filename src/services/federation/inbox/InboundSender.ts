import { Effect, Schema } from "effect"
import type { SqlClient } from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import type { Fragment } from "effect/sql/Statement"
import type { AccountId } from "../../database/Ids.ts"
import { rowsOf } from "../../database/Rows.ts"

/** Sender of an activity, with the fields that handlers and policies need. */
export const InboundSender = Schema.Struct({
  uri: Schema.String,
  /** Domain of the handle. */
  domain: Schema.String,
  followersUrl: Schema.NullOr(Schema.String),
  featuredUrl: Schema.NullOr(Schema.String),
  featuredCollectionsUrl: Schema.NullOr(Schema.String),
  suspended: Schema.Boolean,
  /** True if a block exists between the sender, or its domain, and a local account. */
  hasBlocks: Schema.Boolean
})
export type InboundSender = typeof InboundSender.Type
const senderRows = rowsOf(InboundSender)

/** SQL query for a sender by an expression of its id; no row for an account that is not remote. */
export const senderQuery = (sql: SqlClient, accountId: Fragment): Fragment =>
  sql`SELECT a.uri, a.domain, r.followers_url, r.featured_url, r.featured_collections_url, a.suspended_at IS NOT NULL AS suspended,
      EXISTS (SELECT FROM blocks b WHERE b.target_account_id = a.id)
        OR EXISTS (SELECT FROM blocks b WHERE b.account_id = a.id)
        OR EXISTS (SELECT FROM domain_mutes d WHERE d.domain IN (a.domain, uri_host(a.uri))) AS has_blocks
    FROM accounts a JOIN remote_actors r ON r.account_id = a.id WHERE a.id = ${accountId}`

/** Returns a remote account as a sender; undefined for a local one. */
export const findSender = (
  sql: SqlClient,
  accountId: AccountId
): Effect.Effect<InboundSender | undefined, SqlError> =>
  Effect.map(senderRows(sql`${senderQuery(sql, sql`${accountId}`)}`), ([sender]) => sender)
