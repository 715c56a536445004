import { Effect } from "effect"
import type { Step } from "../Step.ts"
import { lacksAccount, lacksPostHere } from "./ColumnSql.ts"

const isAt = (column: string) => `EXISTS (SELECT FROM statuses q WHERE q.id = staged.${column})`

/**
 * Quotes with their approval. Consents of local accounts keep their ids, which name Mastodon's row instead of the
 * quoting post. A quote whose post is not here waits for it, as if it came from another server.
 */
export const make = (publicUrl: string): Step => ({
  name: "quotes",
  table: "quotes",
  joins: "LEFT JOIN statuses quoted ON quoted.id = t.quoted_status_id AND quoted.deleted_at IS NULL",
  columns: `id:bigint account_id:bigint status_id:bigint quoted_status_id:bigint quoted_account_id:bigint state:int
    approval_uri activity_uri legacy:boolean created_at:timestamptz updated_at:timestamptz`,
  computed: [["quoted_uri", "quoted.uri"]],
  prepared: "public_url",
  prepare: (rows) => Effect.succeed(rows.map((row) => ({ ...row, ["public_url"]: publicUrl }))),
  skips: [lacksPostHere("status_id")],
  rejects: [
    lacksAccount("account_id"),
    // The last state is of a deleted quoted post.
    ["state IS NULL OR state NOT BETWEEN 0 AND 4", "the state of the quote is unknown"]
  ],
  write: [
    `INSERT INTO quotes (status_id, account_id, quoted_status_id, quoted_account_id, quoted_uri, state, legacy, request_uri,
      authorization_uri, created_at)
    SELECT s.status_id, s.account_id, s.here, a.id, CASE WHEN s.here IS NULL THEN nullif(s.quoted_uri, '') END,
      CASE WHEN s.state = 1 AND s.here IS NULL AND coalesce(s.quoted_uri, '') <> '' THEN 'pending'
        ELSE (ARRAY['pending', 'accepted', 'rejected', 'revoked', 'accepted'])[s.state + 1] END,
      coalesce(s.legacy, false), nullif(s.activity_uri, ''),
      CASE WHEN a.domain IS NOT NULL THEN nullif(s.approval_uri, '')
        WHEN s.state IN (1, 3) THEN s.public_url || a.actor_path || '/quote_authorizations/' || s.id END, s.created_at
    FROM (SELECT *, CASE WHEN ${isAt("quoted_status_id")} THEN quoted_status_id END AS here FROM staged) s
    LEFT JOIN accounts a ON a.id = s.quoted_account_id
    ON CONFLICT (status_id) DO UPDATE SET state = excluded.state, quoted_status_id = excluded.quoted_status_id,
      quoted_uri = excluded.quoted_uri, authorization_uri = excluded.authorization_uri`
  ],
  changes: true
})
