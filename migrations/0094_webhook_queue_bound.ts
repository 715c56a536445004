import { Effect } from "effect"
import { SqlClient } from "effect/sql"

const statements = [
  // Serialises transactions that enqueue events, so that they cannot exceed the bound together. Triggers that count at the
  // commit share one lock: two locks taken in different orders would deadlock.
  `CREATE OR REPLACE FUNCTION webhook_told(event text, object bigint) RETURNS void LANGUAGE plpgsql AS $$ BEGIN
    IF NOT EXISTS (SELECT FROM webhooks w WHERE w.enabled AND webhook_told.event = ANY (w.events)) THEN
      RETURN;
    END IF;
    PERFORM pg_advisory_xact_lock(hashtextextended('rows counted at the commit', 0));
    INSERT INTO webhook_deliveries (webhook_id, event, object_id)
    SELECT w.id, webhook_told.event, object FROM webhooks w WHERE w.enabled AND webhook_told.event = ANY (w.events)
      AND NOT EXISTS (SELECT FROM webhook_deliveries d WHERE d.webhook_id = w.id AND d.object_id = object
        AND d.event = webhook_told.event AND d.tries = 0)
      AND (SELECT count(*) FROM (SELECT FROM webhook_deliveries d WHERE d.webhook_id = w.id LIMIT 1000) waiting) < 1000;
  END $$`,
  // The triggers run at the commit: the lock is held for moments, and no row is locked after it.
  `DO $$
    DECLARE
      found record;
    BEGIN
      FOR found IN SELECT tgname, tgrelid::regclass AS name, pg_get_triggerdef(oid) AS definition FROM pg_trigger
        WHERE tgname LIKE 'webhook\\_%' AND NOT tgisinternal LOOP
        EXECUTE format('DROP TRIGGER %I ON %s', found.tgname, found.name);
        EXECUTE replace(
          replace(found.definition, 'CREATE TRIGGER', 'CREATE CONSTRAINT TRIGGER'),
          ' FOR EACH ROW',
          ' DEFERRABLE INITIALLY DEFERRED FOR EACH ROW'
        );
      END LOOP;
    END $$`
]

/**
 * Bounds the queue of each webhook also for concurrent transactions. A later migration that updates rows of `accounts`,
 * `users`, `reports` or `statuses` and then alters the table must run SET CONSTRAINTS ALL IMMEDIATE in between.
 */
export default Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* Effect.forEach(statements, (statement) => sql.unsafe(statement), { discard: true })
})
