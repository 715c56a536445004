import { Effect } from "effect"
import type { SqlClient } from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import type { Fragment } from "effect/sql/Statement"
import type { AccountId } from "../../Ids.ts"

/** Who sent it, as far as activities and the rules about them are concerned. */
export interface InboundSender {
  readonly uri: string
  /** Of the handle. */
  readonly domain: string
  readonly followersUrl: string | null
  readonly featuredUrl: string | null
  readonly suspended: boolean
  /** There are blocks between the sender, or its domain, and somebody here. */
  readonly hasBlocks: boolean
}

/** The sender as a query, by an expression of its id; no row where the account is none of another server. */
export const senderQuery = (sql: SqlClient, accountId: Fragment): Fragment =>
  sql`SELECT a.uri, a.domain, r.followers_url, r.featured_url, a.suspended_at IS NOT NULL AS suspended,
      EXISTS (SELECT FROM blocks b WHERE b.target_account_id = a.id)
        OR EXISTS (SELECT FROM blocks b WHERE b.account_id = a.id)
        OR EXISTS (SELECT FROM domain_mutes d WHERE d.domain = a.domain) AS has_blocks
    FROM accounts a JOIN remote_actors r ON r.account_id = a.id WHERE a.id = ${accountId}`

/** What a remote account's actor must know of it; undefined for a local one. */
export const findSender = (
  sql: SqlClient,
  accountId: AccountId
): Effect.Effect<InboundSender | undefined, SqlError> =>
  Effect.map(sql<InboundSender>`${senderQuery(sql, sql`${accountId}`)}`, ([sender]) => sender)
