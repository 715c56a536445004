import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Emoji reactions and their counts: a status with many reactions is read as quickly as any other. */
const statements = [
  // The name is a Unicode emoji, or the shortcode of a custom one. `uri` is the id of a remote activity; `liked` says that it
  // was a Like, which is a favourite as well: an Undo removes both.
  `CREATE TABLE emoji_reactions (
    id bigint PRIMARY KEY,
    account_id bigint NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    status_id bigint NOT NULL REFERENCES statuses (id) ON DELETE CASCADE,
    name text NOT NULL,
    custom_emoji_id bigint REFERENCES custom_emojis (id) ON DELETE CASCADE,
    uri text,
    liked boolean NOT NULL DEFAULT false
  )`,
  `CREATE UNIQUE INDEX emoji_reactions_once ON emoji_reactions (account_id, status_id, name, coalesce(custom_emoji_id, 0))`,
  `CREATE INDEX emoji_reactions_status ON emoji_reactions (status_id, id)`,
  `CREATE INDEX emoji_reactions_emoji ON emoji_reactions (custom_emoji_id) WHERE custom_emoji_id IS NOT NULL`,
  `CREATE TABLE emoji_reaction_counts (
    id bigint NOT NULL,
    status_id bigint NOT NULL REFERENCES statuses (id) ON DELETE CASCADE,
    name text NOT NULL,
    custom_emoji_id bigint REFERENCES custom_emojis (id) ON DELETE CASCADE,
    count integer NOT NULL
  ) WITH (fillfactor = 50)`,
  `CREATE UNIQUE INDEX emoji_reaction_counts_once ON emoji_reaction_counts (status_id, name, coalesce(custom_emoji_id, 0))`,
  `CREATE INDEX emoji_reaction_counts_emoji ON emoji_reaction_counts (custom_emoji_id) WHERE custom_emoji_id IS NOT NULL`,
  // In the row that has the other counts: no cost for statuses without reactions.
  `ALTER TABLE status_stats ADD COLUMN reactions_count integer NOT NULL DEFAULT 0`
]

export default Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* Effect.forEach(statements, (statement) => sql.unsafe(statement), { discard: true })
})
