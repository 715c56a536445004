import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import type { InboundSender } from "../../services/federation/inbox/InboundActivities.ts"
import type { AccountId } from "../../services/Ids.ts"

/** The remote account whose actor this is. */
export type RemoteSelf = InboundSender

/** What a remote account's actor must know of it; undefined for a local one. */
export const remoteSelf = (sql: SqlClient.SqlClient, accountId: AccountId) =>
  Effect.map(
    sql<RemoteSelf>`SELECT a.uri, r.followers_url, r.featured_url, a.suspended_at IS NOT NULL AS suspended, a.domain,
        EXISTS (SELECT FROM blocks b WHERE b.target_account_id = a.id)
          OR EXISTS (SELECT FROM domain_mutes d WHERE d.domain = a.domain) AS shunned
      FROM accounts a JOIN remote_actors r ON r.account_id = a.id WHERE a.id = ${accountId}`,
    ([self]) => self
  )
