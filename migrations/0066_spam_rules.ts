import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Spam rules of staff, their matches, and held posts. */
const statements = [
  `CREATE TABLE spam_rules (
    id bigint PRIMARY KEY,
    place integer NOT NULL,
    name text NOT NULL,
    state text NOT NULL CHECK (state IN ('off', 'dry', 'on')),
    action text NOT NULL CHECK (action IN ('pass', 'score', 'report', 'limit', 'hold', 'drop')),
    score integer NOT NULL,
    conditions jsonb NOT NULL,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL
  )`,
  // Posts that a rule matched; kept for as long as dry runs look back.
  `CREATE TABLE spam_hits (
    id bigint PRIMARY KEY,
    rule_id bigint NOT NULL REFERENCES spam_rules (id) ON DELETE CASCADE,
    account_id bigint NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    -- Absent if the post was rejected.
    status_id bigint,
    dry boolean NOT NULL,
    created_at timestamptz NOT NULL
  )`,
  `CREATE INDEX spam_hits_rule ON spam_hits (rule_id, id)`,
  `CREATE INDEX spam_hits_account ON spam_hits (account_id)`,
  `CREATE INDEX spam_hits_created ON spam_hits (created_at)`,
  `CREATE TABLE spam_scores (
    account_id bigint PRIMARY KEY REFERENCES accounts (id) ON DELETE CASCADE,
    domain text,
    score double precision NOT NULL,
    scored_at timestamptz NOT NULL
  )`,
  `CREATE INDEX spam_scores_domain ON spam_scores (domain, scored_at) WHERE domain IS NOT NULL`,
  `CREATE INDEX spam_scores_scored ON spam_scores (scored_at)`,
  // Authors of the same text, by a hash of the normalized text.
  `CREATE TABLE spam_texts (
    hash bigint NOT NULL,
    account_id bigint NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    seen_at timestamptz NOT NULL,
    PRIMARY KEY (hash, account_id)
  )`,
  `CREATE INDEX spam_texts_account ON spam_texts (account_id)`,
  `CREATE INDEX spam_texts_seen ON spam_texts (seen_at)`,
  // Posts waiting for a moderator, with their audience, mentions and named readers.
  `CREATE TABLE held_posts (
    status_id bigint PRIMARY KEY REFERENCES statuses (id) ON DELETE CASCADE,
    account_id bigint NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    rule_id bigint REFERENCES spam_rules (id) ON DELETE SET NULL,
    visibility text NOT NULL,
    mentioned bigint[] NOT NULL,
    readers bigint[] NOT NULL,
    created_at timestamptz NOT NULL
  )`,
  `CREATE INDEX held_posts_account ON held_posts (account_id)`,
  `CREATE INDEX held_posts_rule ON held_posts (rule_id) WHERE rule_id IS NOT NULL`,
  `CREATE TABLE spam_runs (
    id bigint PRIMARY KEY,
    account_id bigint REFERENCES accounts (id) ON DELETE SET NULL,
    days integer NOT NULL,
    state text NOT NULL CHECK (state IN ('waiting', 'done', 'failed')),
    statuses integer NOT NULL,
    results jsonb NOT NULL,
    -- End of the lease of the node that works on it.
    due_at timestamptz NOT NULL,
    tries integer NOT NULL,
    created_at timestamptz NOT NULL,
    finished_at timestamptz
  )`,
  `CREATE INDEX spam_runs_account ON spam_runs (account_id) WHERE account_id IS NOT NULL`,
  // A report without an account is by the server itself.
  `ALTER TABLE reports ALTER COLUMN account_id DROP NOT NULL`
]

export default Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* Effect.forEach(statements, (statement) => sql.unsafe(statement), { discard: true })
})
