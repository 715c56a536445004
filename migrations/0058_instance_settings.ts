import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * Versions of the privacy policy and the terms of service by effective date; the invite of each sign-up; sign-ups whose
 * welcome is not done yet.
 */
const statements = [
  `CREATE TABLE document_versions (
    id bigint PRIMARY KEY,
    kind text NOT NULL CHECK (kind IN ('privacy_policy', 'terms_of_service')),
    html text NOT NULL,
    notice text NOT NULL DEFAULT '',
    effective_on text NOT NULL,
    published_at timestamptz NOT NULL,
    UNIQUE (kind, effective_on)
  )`,
  `INSERT INTO document_versions (id, kind, html, effective_on, published_at)
    SELECT next_id((extract(epoch FROM updated_at) * 1000)::bigint), 'privacy_policy', value #>> '{}',
      to_char(updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD'), updated_at
    FROM settings WHERE name = 'site_privacy_policy' AND jsonb_typeof(value) = 'string' AND value #>> '{}' <> ''`,
  `INSERT INTO document_versions (id, kind, html, effective_on, published_at)
    SELECT next_id((extract(epoch FROM updated_at) * 1000)::bigint), 'terms_of_service', value ->> 'html',
      value ->> 'since', updated_at
    FROM settings WHERE name = 'site_terms_of_service' AND value ->> 'html' <> '' AND value ->> 'since' <> ''`,
  `DELETE FROM settings WHERE name IN ('site_privacy_policy', 'site_terms_of_service')`,
  `ALTER TABLE users ADD COLUMN invite_id bigint REFERENCES invites (id) ON DELETE SET NULL,
    ADD COLUMN age_verified_at timestamptz`,
  `CREATE INDEX users_invite ON users (invite_id) WHERE invite_id IS NOT NULL`,
  `CREATE INDEX invites_account ON invites (account_id)`,
  `CREATE TABLE new_members (
    account_id bigint PRIMARY KEY REFERENCES users (account_id) ON DELETE CASCADE,
    follows bigint REFERENCES accounts (id) ON DELETE SET NULL,
    welcome boolean NOT NULL
  )`,
  `CREATE INDEX new_members_follows ON new_members (follows) WHERE follows IS NOT NULL`
]

export default Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* Effect.forEach(statements, (statement) => sql.unsafe(statement), { discard: true })
})
