import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Whom to follow: accounts that are well liked here, as computed last, and suggestions that were taken away. */
const statements = [
  `CREATE TABLE popular_accounts (
    source text NOT NULL CHECK (source IN ('most_followed', 'most_interactions')),
    account_id bigint NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    place integer NOT NULL,
    PRIMARY KEY (source, account_id)
  )`,
  `CREATE INDEX popular_accounts_account ON popular_accounts (account_id)`,
  // What came of a block does not outlive it: interactions from then on count again. `id` tells when that was.
  `CREATE TABLE dismissed_suggestions (
    id bigint PRIMARY KEY,
    account_id bigint NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    target_account_id bigint NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    for_good boolean NOT NULL,
    UNIQUE (account_id, target_account_id)
  )`,
  `CREATE INDEX dismissed_suggestions_account ON dismissed_suggestions (account_id, id)`,
  `CREATE INDEX dismissed_suggestions_target ON dismissed_suggestions (target_account_id)`,
  // Those who let themselves be found, the newest first; who posted last is asked beside it.
  `CREATE INDEX accounts_discoverable ON accounts (id DESC)
     WHERE discoverable AND suspended_at IS NULL AND silenced_at IS NULL AND moved_to_id IS NULL`
]

export default Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* Effect.forEach(statements, (statement) => sql.unsafe(statement), { discard: true })
})
