import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Indexes that find unused rows; a new reference to an inbox never points to a deleted row. */
export default Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE INDEX remote_actors_inbox ON remote_actors (inbox_id)`
  yield* sql`CREATE INDEX remote_actors_inbox_url ON remote_actors USING hash (inbox_url)`
  yield* sql`CREATE INDEX relays_inbox ON relays (inbox_id)`
  yield* sql`CREATE INDEX featured_tags_tag ON featured_tags (tag_id)`
  yield* sql`CREATE INDEX mail_tokens_expires ON mail_tokens (expires_at)`
  yield* sql`CREATE INDEX oauth_grants_expires ON oauth_grants (expires_at)`
  yield* sql`CREATE INDEX oauth_tokens_revoked ON oauth_tokens (revoked_at) WHERE revoked_at IS NOT NULL`
  yield* sql`CREATE INDEX tag_days_day ON tag_days (day)`
  // If the host is deleted between the two inserts, both are repeated.
  yield* sql`CREATE OR REPLACE FUNCTION inbox_number(address text) RETURNS integer LANGUAGE plpgsql STRICT AS $$
    DECLARE
      found integer;
      name text := lower(substring(address from '^[a-z]+://([^/?#]+)'));
    BEGIN
      FOR attempt IN 1..3 LOOP
        SELECT id INTO found FROM inboxes WHERE url = address;
        IF found IS NOT NULL OR name IS NULL THEN RETURN found; END IF;
        INSERT INTO hosts (host) VALUES (name) ON CONFLICT (host) DO NOTHING;
        INSERT INTO inboxes (host_id, url) SELECT id, address FROM hosts WHERE host = name FOR KEY SHARE
          ON CONFLICT (url) DO NOTHING;
      END LOOP;
      SELECT id INTO found FROM inboxes WHERE url = address;
      RETURN found;
    END $$`
  yield* sql`CREATE OR REPLACE FUNCTION remote_actor_inbox() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      NEW.inbox_id := inbox_number(coalesce(NEW.shared_inbox_url, NEW.inbox_url));
      PERFORM FROM inboxes WHERE id = NEW.inbox_id FOR KEY SHARE;
      IF NOT FOUND THEN NEW.inbox_id := inbox_number(coalesce(NEW.shared_inbox_url, NEW.inbox_url)); END IF;
      RETURN NEW;
    END $$`
})
