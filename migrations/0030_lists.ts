import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Lists of accounts and hashtags with a timeline each. */
const statements = [
  `CREATE TABLE lists (
    id bigint PRIMARY KEY,
    account_id bigint NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    title text NOT NULL,
    replies_policy text NOT NULL CHECK (replies_policy IN ('followed', 'list', 'none')),
    -- Posts of members are hidden from the owner's home.
    exclusive boolean NOT NULL
  )`,
  `CREATE INDEX lists_account ON lists (account_id, id)`,
  `CREATE INDEX lists_exclusive ON lists (account_id) WHERE exclusive`,
  `CREATE TABLE list_accounts (
    id bigint PRIMARY KEY,
    list_id bigint NOT NULL REFERENCES lists (id) ON DELETE CASCADE,
    account_id bigint NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    UNIQUE (list_id, account_id)
  )`,
  `CREATE INDEX list_accounts_account ON list_accounts (account_id, id) INCLUDE (list_id)`,
  `CREATE INDEX list_accounts_list ON list_accounts (list_id, id)`,
  `CREATE TABLE list_tags (
    id bigint PRIMARY KEY,
    list_id bigint NOT NULL REFERENCES lists (id) ON DELETE CASCADE,
    tag_id bigint NOT NULL REFERENCES tags (id) ON DELETE CASCADE,
    UNIQUE (list_id, tag_id)
  )`,
  `CREATE INDEX list_tags_tag ON list_tags (tag_id, id) INCLUDE (list_id)`
]

export default Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* Effect.forEach(statements, (statement) => sql.unsafe(statement), { discard: true })
})
