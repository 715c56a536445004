import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * Outbound activities. The document is stored once for all inboxes; a delivery is a row of numbers. The inboxes that
 * received a post are a list of numbers, so that its Delete goes exactly there.
 */
const statements = [
  `CREATE TABLE hosts (
    id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    host text NOT NULL UNIQUE,
    -- Signature scheme that the host accepts, once it has accepted one.
    scheme text CHECK (scheme IN ('draft-cavage', 'rfc9421')),
    succeeded_at timestamptz,
    -- Days (UTC) with failures since the last success.
    failed_days date[] NOT NULL DEFAULT '{}',
    paused_at timestamptz,
    paused_by text CHECK (paused_by IN ('operator', 'failures')),
    last_error text
  ) WITH (fillfactor = 80)`,
  `CREATE TABLE inboxes (
    id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    host_id integer NOT NULL REFERENCES hosts (id),
    url text NOT NULL UNIQUE,
    -- Time of a 410 response: the inbox is gone for good.
    gone_at timestamptz
  )`,
  `CREATE INDEX inboxes_host ON inboxes (host_id)`,
  // Number of an inbox, given when first needed. URLs are stored as URL parsers write them.
  `CREATE FUNCTION inbox_number(address text) RETURNS integer LANGUAGE plpgsql VOLATILE STRICT AS $$
    DECLARE
      found integer;
      name text := lower(substring(address from '^[a-z]+://([^/?#]+)'));
    BEGIN
      SELECT id INTO found FROM inboxes WHERE url = address;
      IF found IS NOT NULL OR name IS NULL THEN RETURN found; END IF;
      INSERT INTO hosts (host) VALUES (name) ON CONFLICT (host) DO NOTHING;
      INSERT INTO inboxes (host_id, url) SELECT id, address FROM hosts WHERE host = name ON CONFLICT (url) DO NOTHING;
      SELECT id INTO found FROM inboxes WHERE url = address;
      RETURN found;
    END $$`,
  // Inbox for deliveries to an account: the shared inbox of its server, if there is one.
  `ALTER TABLE remote_actors ADD COLUMN inbox_id integer REFERENCES inboxes (id)`,
  `CREATE FUNCTION remote_actor_inbox() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      NEW.inbox_id := inbox_number(coalesce(NEW.shared_inbox_url, NEW.inbox_url));
      RETURN NEW;
    END $$`,
  `CREATE TRIGGER remote_actor_inbox BEFORE INSERT OR UPDATE OF inbox_url, shared_inbox_url ON remote_actors
     FOR EACH ROW EXECUTE FUNCTION remote_actor_inbox()`,
  `UPDATE remote_actors SET inbox_url = inbox_url`,
  // Finds remote followers without reading local ones. The follow's id is the sender's.
  `ALTER TABLE follows ADD COLUMN remote boolean NOT NULL DEFAULT false, ADD COLUMN uri text`,
  `ALTER TABLE follow_requests ADD COLUMN uri text`,
  `UPDATE follows f SET remote = true FROM remote_actors r WHERE r.account_id = f.account_id`,
  `CREATE FUNCTION follow_remote() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      NEW.remote := EXISTS (SELECT FROM remote_actors WHERE account_id = NEW.account_id);
      RETURN NEW;
    END $$`,
  `CREATE TRIGGER follow_remote BEFORE INSERT ON follows FOR EACH ROW EXECUTE FUNCTION follow_remote()`,
  `CREATE INDEX follows_remote ON follows (target_account_id, id) INCLUDE (account_id) WHERE remote`,
  // Ordered by when things happened, whatever the clocks say.
  `CREATE TABLE outgoing_activities (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    -- 0 is the server itself.
    sender_id bigint NOT NULL,
    type text NOT NULL,
    uri text NOT NULL,
    -- Deliveries about one thing reach an inbox in order.
    about bigint NOT NULL,
    document text NOT NULL,
    -- Deliveries carry the digest of the sender's followers on that host.
    synchronizes boolean NOT NULL DEFAULT false,
    -- Low priority: fewer retries.
    low boolean NOT NULL DEFAULT false,
    -- Fan-out that expands the activity, and the inboxes reached so far.
    fanout_id bigint,
    inbox_ids integer[] NOT NULL DEFAULT '{}',
    created_at timestamptz NOT NULL
  )`,
  `CREATE UNIQUE INDEX outgoing_activities_fanout ON outgoing_activities (fanout_id) WHERE fanout_id IS NOT NULL`,
  `CREATE TABLE deliveries (
    inbox_id integer NOT NULL,
    about bigint NOT NULL,
    activity_id bigint NOT NULL,
    host_id integer NOT NULL,
    tries smallint NOT NULL DEFAULT 0,
    due_at timestamptz NOT NULL,
    error text,
    PRIMARY KEY (inbox_id, about, activity_id)
  ) WITH (fillfactor = 70)`,
  `CREATE INDEX deliveries_due ON deliveries (host_id, due_at)`,
  `CREATE INDEX deliveries_activity ON deliveries (activity_id)`,
  `CREATE INDEX outgoing_activities_about ON outgoing_activities (about)`,
  `CREATE TABLE reaches (
    about bigint PRIMARY KEY,
    inbox_ids integer[] NOT NULL
  )`
]

export default Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* Effect.forEach(statements, (statement) => sql.unsafe(statement), { discard: true })
})
