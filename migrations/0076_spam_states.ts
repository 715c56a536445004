import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Inputs of spam rules besides texts: hashes of avatars, and scores of servers. */
const statements = [
  // 64-bit perceptual hash; 0 for a picture without features, null if not computed.
  `ALTER TABLE accounts ADD COLUMN avatar_hash bigint`,
  `CREATE FUNCTION forget_avatar_hash() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    NEW.avatar_hash := NULL;
    RETURN NEW;
  END $$`,
  // Clears the hash when a remote avatar changes; a local one comes with its hash.
  `CREATE TRIGGER avatar_changed BEFORE UPDATE OF avatar_remote_url ON accounts FOR EACH ROW
    WHEN (OLD.avatar_remote_url IS DISTINCT FROM NEW.avatar_remote_url)
    EXECUTE FUNCTION forget_avatar_hash()`,
  // Changes by posts are inserted here and folded into the server's row later: no post waits for that row.
  `CREATE TABLE spam_domain_scores (
    domain text PRIMARY KEY,
    score double precision NOT NULL,
    scored_at timestamptz NOT NULL
  )`,
  `CREATE INDEX spam_domain_scores_scored ON spam_domain_scores (scored_at)`,
  `CREATE TABLE spam_score_changes (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    domain text NOT NULL,
    score double precision NOT NULL,
    scored_at timestamptz NOT NULL
  )`,
  `CREATE INDEX spam_score_changes_domain ON spam_score_changes (domain)`,
  `INSERT INTO spam_domain_scores (domain, score, scored_at)
    SELECT k.domain, sum(k.score * power(0.5, least(1000, extract(epoch FROM (m.at - k.scored_at)) / 604800))), m.at
    FROM spam_scores k JOIN (SELECT domain, max(scored_at) AS at FROM spam_scores GROUP BY domain) m ON m.domain = k.domain
    GROUP BY k.domain, m.at`,
  `DROP INDEX spam_scores_domain`
]

export default Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* Effect.forEach(statements, (statement) => sql.unsafe(statement), { discard: true })
})
