import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Replies, favourites and reblogs that need approval, with the decision; and default interaction policies. */
const statements = [
  `ALTER TABLE users ADD COLUMN default_policies text[]`,
  `CREATE TABLE interaction_requests (
    -- Also the id of the favourite.
    id bigint PRIMARY KEY,
    kind text NOT NULL CHECK (kind IN ('favourite', 'reply', 'reblog')),
    account_id bigint NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    -- Author of the status, who decides.
    target_account_id bigint NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    status_id bigint NOT NULL REFERENCES statuses (id) ON DELETE CASCADE,
    -- The reply or the reblog.
    interaction_id bigint REFERENCES statuses (id) ON DELETE CASCADE,
    -- Audience of the waiting reply or reblog: visibility, mentions and named readers.
    visibility text,
    mentioned bigint[] NOT NULL DEFAULT '{}',
    readers bigint[] NOT NULL DEFAULT '{}',
    -- Ids of the remote interaction and of the request for it.
    uri text,
    request_uri text,
    -- Id of the authorization that another server gave or claims to have.
    authorization_uri text,
    state text NOT NULL CHECK (state IN ('pending', 'accepted', 'rejected')),
    created_at timestamptz NOT NULL,
    decided_at timestamptz
  )`,
  `CREATE UNIQUE INDEX interaction_requests_once ON interaction_requests (status_id, account_id, kind) WHERE kind <> 'reply'`,
  `CREATE UNIQUE INDEX interaction_requests_interaction ON interaction_requests (interaction_id) WHERE interaction_id IS NOT NULL`,
  `CREATE INDEX interaction_requests_waiting ON interaction_requests (target_account_id, id) WHERE state = 'pending'`,
  `CREATE INDEX interaction_requests_account ON interaction_requests (account_id, target_account_id)`,
  `CREATE INDEX interaction_requests_target ON interaction_requests (target_account_id)`,
  `CREATE INDEX interaction_requests_status ON interaction_requests (status_id)`,
  `CREATE INDEX interaction_requests_authorization ON interaction_requests (authorization_uri) WHERE authorization_uri IS NOT NULL`
]

export default Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* Effect.forEach(statements, (statement) => sql.unsafe(statement), { discard: true })
})
