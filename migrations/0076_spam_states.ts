import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** What rules against spam compare beside texts: what avatars look like, and what a server's score is by itself. */
const statements = [
  // 64 bits of what a picture looks like; 0 where it looks like nothing, null where it was not looked at.
  `ALTER TABLE accounts ADD COLUMN avatar_hash bigint`,
  `CREATE FUNCTION forget_avatar_hash() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    NEW.avatar_hash := NULL;
    RETURN NEW;
  END $$`,
  // Another picture elsewhere than the one that was looked at; one from here comes with its own.
  `CREATE TRIGGER avatar_changed BEFORE UPDATE OF avatar_remote_url ON accounts FOR EACH ROW
    WHEN (OLD.avatar_remote_url IS DISTINCT FROM NEW.avatar_remote_url)
    EXECUTE FUNCTION forget_avatar_hash()`,
  // What posts change is put down here, and folded into the row of the server by whoever is first: no post waits for that row.
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
