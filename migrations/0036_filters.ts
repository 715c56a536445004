import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Filters with keywords and with single statuses. */
const statements = [
  `CREATE TABLE filters (
    id bigint PRIMARY KEY,
    account_id bigint NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    title text NOT NULL,
    contexts text[] NOT NULL,
    action text NOT NULL CHECK (action IN ('warn', 'hide', 'blur')),
    expires_at timestamptz
  )`,
  `CREATE INDEX filters_account ON filters (account_id, id)`,
  `CREATE TABLE filter_keywords (
    id bigint PRIMARY KEY,
    filter_id bigint NOT NULL REFERENCES filters (id) ON DELETE CASCADE,
    keyword text NOT NULL,
    whole_word boolean NOT NULL
  )`,
  `CREATE INDEX filter_keywords_filter ON filter_keywords (filter_id, id)`,
  `CREATE TABLE filter_statuses (
    id bigint PRIMARY KEY,
    filter_id bigint NOT NULL REFERENCES filters (id) ON DELETE CASCADE,
    status_id bigint NOT NULL REFERENCES statuses (id) ON DELETE CASCADE,
    UNIQUE (filter_id, status_id)
  )`,
  `CREATE INDEX filter_statuses_status ON filter_statuses (status_id)`
]

export default Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* Effect.forEach(statements, (statement) => sql.unsafe(statement), { discard: true })
})
