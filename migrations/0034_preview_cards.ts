import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * Preview cards, one per URL. `details` is the visible content: null until the page is fetched, or if it has none. A
 * card is fetched at `due_at` by the worker that claims it until `claimed_until`.
 */
const statements = [
  `CREATE TABLE preview_cards (
    id bigint PRIMARY KEY,
    -- SHA-256 of the URL, which is long.
    url_key text NOT NULL UNIQUE,
    url text NOT NULL,
    -- Registrable domain of the host: one site does not hold up others.
    site text NOT NULL,
    due_at timestamptz,
    claimed_until timestamptz,
    tries integer NOT NULL DEFAULT 0,
    -- Time of the last fetch or of giving up.
    fetched_at timestamptz,
    details jsonb,
    -- Host that finally served the page, and the account that the page names as author.
    page_host text,
    creator_id bigint REFERENCES accounts (id) ON DELETE SET NULL,
    image_url text,
    image_name text,
    blurhash text,
    created_at timestamptz NOT NULL
  )`,
  `CREATE INDEX preview_cards_due ON preview_cards (due_at) WHERE due_at IS NOT NULL`,
  `CREATE INDEX preview_cards_waiting ON preview_cards (site) WHERE due_at IS NOT NULL`,
  `CREATE INDEX preview_cards_claimed ON preview_cards (claimed_until) WHERE claimed_until IS NOT NULL`,
  `CREATE INDEX preview_cards_creator ON preview_cards (creator_id) WHERE creator_id IS NOT NULL`,
  `CREATE TABLE status_cards (
    status_id bigint PRIMARY KEY REFERENCES statuses (id) ON DELETE CASCADE,
    card_id bigint NOT NULL REFERENCES preview_cards (id) ON DELETE CASCADE,
    -- URL as the status has it.
    url text NOT NULL
  )`,
  `CREATE INDEX status_cards_card ON status_cards (card_id, status_id)`,
  `ALTER TABLE stored_files ADD COLUMN card_id bigint REFERENCES preview_cards (id) ON DELETE SET NULL`,
  `CREATE INDEX stored_files_card ON stored_files (card_id) WHERE card_id IS NOT NULL`,
  `DROP INDEX stored_files_unheld`,
  `CREATE INDEX stored_files_unheld ON stored_files (created_at)
     WHERE media_id IS NULL AND account_id IS NULL AND emoji_id IS NULL AND setting IS NULL AND card_id IS NULL`
]

export default Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* Effect.forEach(statements, (statement) => sql.unsafe(statement), { discard: true })
})
