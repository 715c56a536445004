import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Replies, favourites and reblogs that a policy does not leave to everybody, with what became of them; and policies by default. */
const statements = [
  `ALTER TABLE users ADD COLUMN default_policies text[]`,
  `CREATE TABLE interaction_requests (
    -- Of a favourite it is the id as well.
    id bigint PRIMARY KEY,
    kind text NOT NULL CHECK (kind IN ('favourite', 'reply', 'reblog')),
    account_id bigint NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    -- Whose status it is, and so who decides.
    target_account_id bigint NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    status_id bigint NOT NULL REFERENCES statuses (id) ON DELETE CASCADE,
    -- The reply or the reblog.
    interaction_id bigint REFERENCES statuses (id) ON DELETE CASCADE,
    -- For whom a reply or reblog is that waits, and whom it mentions or names as readers.
    visibility text,
    mentioned bigint[] NOT NULL DEFAULT '{}',
    readers bigint[] NOT NULL DEFAULT '{}',
    -- The ids of the interaction and of the request for it, where they come from another server.
    uri text,
    request_uri text,
    -- The id of the consent that another server gave, or is said to have given.
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
