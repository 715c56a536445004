import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Maximum waiting jobs that one account and one other server cause. */
const ofAccountMax = 500
const ofHostMax = 5_000

const statements = [
  `ALTER TABLE errands ADD COLUMN account_id bigint, ADD COLUMN host text`,
  `COMMENT ON COLUMN errands.account_id IS 'Account that caused the job; null for the server''s own checks.'`,
  `COMMENT ON COLUMN errands.host IS 'Domain of that account; null for a local one.'`,
  // Jobs of kinds that the server itself schedules have no sender; each of them has a bound elsewhere.
  `CREATE FUNCTION errand_sender(kind text, subject bigint) RETURNS bigint LANGUAGE sql STABLE AS $$
    SELECT CASE
      WHEN kind IN ('profile', 'move', 'redirect', 'links', 'collections') THEN subject
      WHEN kind IN ('mentions', 'quote', 'tagged') THEN (SELECT account_id FROM statuses WHERE id = subject)
      WHEN kind = 'interaction' THEN (SELECT account_id FROM interaction_requests WHERE id = subject)
      WHEN kind = 'features' THEN (SELECT account_id FROM collections WHERE id = subject)
    END $$`,
  `CREATE FUNCTION errand_sent() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    NEW.account_id := errand_sender(NEW.kind, NEW.subject_id);
    NEW.host := (SELECT domain FROM accounts WHERE id = NEW.account_id);
    RETURN NEW;
  END $$`,
  `UPDATE errands SET account_id = errand_sender(kind, subject_id)`,
  `UPDATE errands SET host = a.domain FROM accounts a WHERE a.id = errands.account_id`,
  `CREATE INDEX errands_account ON errands (account_id) WHERE account_id IS NOT NULL`,
  `CREATE INDEX errands_host ON errands (host) WHERE host IS NOT NULL`,
  `CREATE TRIGGER errand_sent BEFORE INSERT ON errands FOR EACH ROW EXECUTE FUNCTION errand_sent()`,
  `CREATE FUNCTION errand_share_used(account bigint, domain text, part numeric) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT (SELECT count(*) FROM (SELECT FROM errands WHERE account_id = account
        LIMIT ${ofAccountMax + 1}) waiting) > ${ofAccountMax} * part
      OR (SELECT count(*) FROM (SELECT FROM errands WHERE host = domain
        LIMIT ${ofHostMax + 1}) waiting) > ${ofHostMax} * part $$`,
  // Only senders that have used half of their share wait for the lock, which other triggers at the commit share. It is taken
  // after all other locks.
  `CREATE FUNCTION errand_bounded() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    IF errand_share_used(NEW.account_id, NEW.host, 0.5) THEN
      PERFORM pg_advisory_xact_lock(hashtextextended('rows counted at the commit', 0));
      DELETE FROM errands WHERE kind = NEW.kind AND subject_id = NEW.subject_id
        AND errand_share_used(NEW.account_id, NEW.host, 1);
    END IF;
    RETURN NULL;
  END $$`,
  `CREATE CONSTRAINT TRIGGER errand_bounded AFTER INSERT ON errands DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW WHEN (NEW.account_id IS NOT NULL) EXECUTE FUNCTION errand_bounded()`
]

/** Shares of the job queue by account and by server: a new job of a sender that has used its share is dropped. */
export default Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* Effect.forEach(statements, (statement) => sql.unsafe(statement), { discard: true })
})
