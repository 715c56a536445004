import { Clock, Effect, Fiber } from "effect"
import { SqlClient } from "effect/sql"
import { AccountId } from "../../../src/services/database/Ids.ts"
import { person } from "../../support/People.ts"

/*
 * Two concurrent transactions: the first stops before its first row of a table until the second ends, or until the
 * second waits for the first. This proves that a check is repeated after a concurrent commit.
 */

/** Key of the lock that shows that the first command has stopped. */
const barrierLock = 4_711
const tables = ["follows", "follow_requests", "blocks", "domain_mutes", "quotes"]

/** Installs triggers by which `interleave` stops a write to these tables. */
export const installBarriers = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* sql.unsafe(`CREATE TABLE barriers (over boolean NOT NULL)`)
  // A row means that a barrier is active; a sequence also counts uncommitted callers.
  yield* sql.unsafe(`CREATE SEQUENCE barrier_calls`)
  yield* sql.unsafe(`CREATE FUNCTION wait_at_barrier() RETURNS trigger LANGUAGE plpgsql VOLATILE AS $$ BEGIN
    IF EXISTS (SELECT FROM barriers) AND nextval('barrier_calls') = 1 THEN
      PERFORM pg_advisory_xact_lock(${barrierLock});
      WHILE EXISTS (SELECT FROM barriers WHERE NOT over) AND NOT EXISTS (SELECT FROM pg_locks WHERE NOT granted) LOOP
        PERFORM pg_sleep(0.002);
      END LOOP;
    END IF;
    RETURN NEW;
  END $$`)
  for (const table of tables) {
    yield* sql.unsafe(
      `CREATE TRIGGER wait_at_barrier BEFORE INSERT ON ${table} FOR EACH ROW EXECUTE FUNCTION wait_at_barrier()`
    )
  }
})

/** Runs `second` while `first` is stopped before its write; after `first`, if `first` writes no row. */
export const interleave = Effect.fnUntraced(function*<A, B>(
  first: Effect.Effect<unknown, A>,
  second: Effect.Effect<unknown, B>
) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`SELECT setval('barrier_calls', 1, false)`
  yield* sql`INSERT INTO barriers (over) VALUES (false)`
  const running = yield* Effect.forkChild(Effect.exit(first))
  let isStopped = false
  while (!isStopped && running.pollUnsafe() === undefined) {
    isStopped = (yield* sql`SELECT FROM pg_locks WHERE locktype = 'advisory' AND objid = ${barrierLock}`).length > 0
  }
  if (!isStopped) yield* sql`UPDATE barriers SET over = true`
  yield* Effect.exit(second)
  yield* sql`UPDATE barriers SET over = true`
  yield* Fiber.join(running)
  yield* sql`DELETE FROM barriers`
})

/** Inserts a remote account like federation. */
export const remoteAccount = Effect.fnUntraced(function*(username: string, domain: string) {
  const sql = yield* SqlClient.SqlClient
  const id = yield* person(username)
  const at = new Date(yield* Clock.currentTimeMillis)
  const uri = `https://${domain}/users/${username}`
  yield* sql`DELETE FROM users WHERE account_id = ${id}`
  yield* sql`UPDATE accounts SET domain = ${domain}, uri = ${uri} WHERE id = ${id}`
  yield* sql`INSERT INTO remote_actors (account_id, type, inbox_url, shared_inbox_url, fetched_at)
    VALUES (${id}, 'Person', ${`${uri}/inbox`}, ${`https://${domain}/inbox`}, ${at})`
  return AccountId.make(id)
})

/**
 * Describes invalid relations, and counters that differ from the rows. `oneByOne`: the commands were recorded in the
 * order in which they took effect, which does not hold for concurrent ones.
 */
export const violations = Effect.fnUntraced(function*(oneByOne: boolean) {
  const sql = yield* SqlClient.SqlClient
  return yield* sql<{ wrong: string }>`
    WITH relations AS (SELECT 'follows' AS how, account_id, target_account_id FROM follows
      UNION ALL SELECT 'requests', account_id, target_account_id FROM follow_requests)
    SELECT a.username || ' ' || r.how || ' ' || t.username || why.words AS wrong FROM relations r
      JOIN accounts a ON a.id = r.account_id JOIN accounts t ON t.id = r.target_account_id
      CROSS JOIN LATERAL (
        SELECT ' despite a block' AS words FROM blocks b WHERE (b.account_id, b.target_account_id) IN
          ((a.id, t.id), (t.id, a.id))
        UNION ALL SELECT ' despite a block of the domain' FROM domain_mutes d WHERE d.account_id = t.id AND d.domain = a.domain
        UNION ALL SELECT ', one of whom is deleted' FROM retired_usernames g WHERE g.username IN (lower(a.username), lower(t.username))
        UNION ALL SELECT ', who had required requests before' FROM commands l JOIN commands f ON f.account_id = a.id
          WHERE ${oneByOne} AND r.how = 'follows' AND t.locked AND l.account_id = t.id AND l.id LIKE 'UpdateProfile:%' AND f.id LIKE 'Follow:%'
            AND l.created_at < f.created_at
        UNION ALL SELECT ', who is not locked' WHERE r.how = 'requests' AND NOT t.locked AND t.domain IS NULL) why
    UNION ALL SELECT a.username || ' has wrong counts' FROM account_stats s JOIN accounts a ON a.id = s.account_id
      WHERE followers_count <> (SELECT count(*) FROM follows WHERE target_account_id = s.account_id)
        OR following_count <> (SELECT count(*) FROM follows f WHERE f.account_id = s.account_id)`
})
