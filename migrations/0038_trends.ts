import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Review by staff of trending items: null until reviewed. */
const reviewed = (table: string) =>
  `ALTER TABLE ${table} ADD COLUMN trendable boolean, ADD COLUMN reviewed_at timestamptz,
     ADD COLUMN requested_review_at timestamptz`

/**
 * Trends as last computed. `score` decays from `max_score`, which is kept for as long as it prevents the same use from
 * counting again.
 */
const statements = [
  reviewed("tags"),
  // The account's posts may trend without a review each.
  reviewed("accounts"),
  `CREATE INDEX tags_review ON tags (requested_review_at) WHERE requested_review_at IS NOT NULL AND reviewed_at IS NULL`,
  `CREATE TABLE tag_trends (
    tag_id bigint PRIMARY KEY REFERENCES tags (id) ON DELETE CASCADE,
    score double precision NOT NULL,
    max_score double precision NOT NULL,
    max_score_at timestamptz NOT NULL
  )`,
  `CREATE TABLE status_trends (
    status_id bigint PRIMARY KEY REFERENCES statuses (id) ON DELETE CASCADE,
    score double precision NOT NULL
  )`,
  `CREATE TABLE status_reviews (
    status_id bigint PRIMARY KEY REFERENCES statuses (id) ON DELETE CASCADE,
    trendable boolean NOT NULL,
    reviewed_at timestamptz NOT NULL
  )`,
  `ALTER TABLE preview_cards ADD COLUMN trendable boolean`,
  // Sites whose pages may trend without a review each.
  `CREATE TABLE preview_card_providers (
    id bigint PRIMARY KEY,
    site text NOT NULL UNIQUE,
    trendable boolean,
    reviewed_at timestamptz,
    requested_review_at timestamptz
  )`,
  `CREATE TABLE card_trends (
    card_id bigint PRIMARY KEY REFERENCES preview_cards (id) ON DELETE CASCADE,
    score double precision NOT NULL,
    max_score double precision NOT NULL,
    max_score_at timestamptz NOT NULL
  )`,
  `CREATE TABLE card_days (
    card_id bigint NOT NULL REFERENCES preview_cards (id) ON DELETE CASCADE,
    day date NOT NULL,
    uses integer NOT NULL,
    accounts integer NOT NULL,
    PRIMARY KEY (card_id, day)
  )`,
  `CREATE INDEX card_days_day ON card_days (day)`,
  // Time of the last run of each; setting it claims the run.
  `CREATE TABLE chores (name text PRIMARY KEY, begun_at timestamptz NOT NULL)`
]

export default Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* Effect.forEach(statements, (statement) => sql.unsafe(statement), { discard: true })
})
