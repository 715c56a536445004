import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Announcements of staff. Without `published_at` only staff see it; dismissed means read. */
const statements = [
  `CREATE TABLE announcements (
    id bigint PRIMARY KEY,
    text text NOT NULL,
    starts_at timestamptz,
    ends_at timestamptz,
    all_day boolean NOT NULL DEFAULT false,
    scheduled_at timestamptz,
    published_at timestamptz,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    CHECK ((starts_at IS NULL) = (ends_at IS NULL)),
    CHECK (NOT all_day OR starts_at IS NOT NULL)
  )`,
  `CREATE TABLE announcement_reactions (
    announcement_id bigint NOT NULL REFERENCES announcements (id) ON DELETE CASCADE,
    name text NOT NULL,
    account_id bigint NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    custom_emoji_id bigint REFERENCES custom_emojis (id) ON DELETE CASCADE,
    created_at timestamptz NOT NULL,
    PRIMARY KEY (announcement_id, name, account_id)
  )`,
  `CREATE INDEX announcement_reactions_account ON announcement_reactions (account_id)`,
  `CREATE INDEX announcement_reactions_emoji ON announcement_reactions (custom_emoji_id) WHERE custom_emoji_id IS NOT NULL`,
  `CREATE TABLE announcement_dismissals (
    account_id bigint NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    announcement_id bigint NOT NULL REFERENCES announcements (id) ON DELETE CASCADE,
    PRIMARY KEY (account_id, announcement_id)
  )`,
  `CREATE INDEX announcement_dismissals_announcement ON announcement_dismissals (announcement_id)`
]

export default Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* Effect.forEach(statements, (statement) => sql.unsafe(statement), { discard: true })
})
