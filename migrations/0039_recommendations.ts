import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Follow suggestions: popular accounts as last computed, and dismissed suggestions. */
const statements = [
  `CREATE TABLE popular_accounts (
    source text NOT NULL CHECK (source IN ('most_followed', 'most_interactions')),
    account_id bigint NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    place integer NOT NULL,
    PRIMARY KEY (source, account_id)
  )`,
  `CREATE INDEX popular_accounts_account ON popular_accounts (account_id)`,
  // The effect of a block on suggestions ends with it: later interactions count again. `id` tells the time of the block.
  `CREATE TABLE dismissed_suggestions (
    id bigint PRIMARY KEY,
    account_id bigint NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    target_account_id bigint NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    for_good boolean NOT NULL,
    UNIQUE (account_id, target_account_id)
  )`,
  `CREATE INDEX dismissed_suggestions_account ON dismissed_suggestions (account_id, id)`,
  `CREATE INDEX dismissed_suggestions_target ON dismissed_suggestions (target_account_id)`,
  // Discoverable accounts, newest first; the time of the last post is queried separately.
  `CREATE INDEX accounts_discoverable ON accounts (id DESC)
     WHERE discoverable AND suspended_at IS NULL AND silenced_at IS NULL AND moved_to_id IS NULL`
]

export default Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* Effect.forEach(statements, (statement) => sql.unsafe(statement), { discard: true })
})
