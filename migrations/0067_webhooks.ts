import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Triggers: table, time, and the webhook event about which object. */
const told = (name: string, table: string, when: string, condition: string, event: string, object: string) => [
  `CREATE FUNCTION ${name}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    PERFORM webhook_told('${event}', NEW.${object});
    RETURN NULL;
  END $$`,
  `CREATE TRIGGER ${name} AFTER ${when} ON ${table} FOR EACH ROW WHEN (${condition}) EXECUTE FUNCTION ${name}()`
]

const open = (row: string) => `${row}.visibility IN ('public', 'unlisted')`
const everybodys = (row: string) =>
  `${row}.local AND NOT ${row}.local_only AND ${row}.deleted_at IS NULL AND ${open(row)}`
const joined = (row: string) => `${row}.approved AND ${row}.confirmed_at IS NOT NULL`

/**
 * Webhooks about accounts, reports and posts of this server. Triggers insert the event in the transaction of the change:
 * no writer can forget it, and without webhooks it costs a look at an empty table.
 */
const statements = [
  `CREATE TABLE webhooks (
    id bigint PRIMARY KEY,
    -- Creator, whose permissions limit the events.
    account_id bigint REFERENCES accounts (id) ON DELETE SET NULL,
    url text NOT NULL UNIQUE,
    events text[] NOT NULL,
    -- Encrypted with the server's key.
    secret bytea NOT NULL,
    template text NOT NULL,
    enabled boolean NOT NULL,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    delivered_at timestamptz,
    -- Reason of the last failure, and number of events dropped since the last success.
    failed_at timestamptz,
    error text,
    given_up integer NOT NULL DEFAULT 0
  )`,
  `CREATE INDEX webhooks_account ON webhooks (account_id) WHERE account_id IS NOT NULL`,
  `CREATE TABLE webhook_deliveries (
    place bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    webhook_id bigint NOT NULL REFERENCES webhooks (id) ON DELETE CASCADE,
    event text NOT NULL,
    object_id bigint NOT NULL,
    -- Both are absent until the event is first tried.
    told_at timestamptz,
    due_at timestamptz,
    tries integer NOT NULL DEFAULT 0
  )`,
  `CREATE INDEX webhook_deliveries_webhook ON webhook_deliveries (webhook_id, place)`,
  // At most a thousand events wait for one webhook; an untried event is sent with the object's current state.
  `CREATE FUNCTION webhook_told(event text, object bigint) RETURNS void LANGUAGE plpgsql AS $$ BEGIN
    INSERT INTO webhook_deliveries (webhook_id, event, object_id)
    SELECT w.id, webhook_told.event, object FROM webhooks w WHERE w.enabled AND webhook_told.event = ANY (w.events)
      AND NOT EXISTS (SELECT FROM webhook_deliveries d WHERE d.webhook_id = w.id AND d.object_id = object
        AND d.event = webhook_told.event AND d.tries = 0)
      AND (SELECT count(*) FROM (SELECT FROM webhook_deliveries d WHERE d.webhook_id = w.id LIMIT 1000) waiting) < 1000;
  END $$`,
  ...told("webhook_account_created", "users", "INSERT", "true", "account.created", "account_id"),
  ...told("webhook_account_joined", "users", "INSERT", joined("NEW"), "account.approved", "account_id"),
  ...told(
    "webhook_account_approved",
    "users",
    "UPDATE OF approved, confirmed_at",
    `${joined("NEW")} AND NOT (${joined("OLD")})`,
    "account.approved",
    "account_id"
  ),
  ...told(
    "webhook_account_updated",
    "accounts",
    "UPDATE OF display_name, note, fields, locked, bot, discoverable, avatar_name, header_name, memorial, moved_to_id, " +
      "silenced_at, suspended_at, sensitized_at",
    "NEW.domain IS NULL AND OLD IS DISTINCT FROM NEW",
    "account.updated",
    "id"
  ),
  ...told("webhook_report_created", "reports", "INSERT", "true", "report.created", "id"),
  ...told("webhook_report_updated", "reports", "UPDATE", "OLD IS DISTINCT FROM NEW", "report.updated", "id"),
  ...told("webhook_status_created", "statuses", "INSERT", everybodys("NEW"), "status.created", "id"),
  // A held post counts as new once it is released.
  ...told(
    "webhook_status_revealed",
    "statuses",
    "UPDATE OF visibility",
    `${everybodys("NEW")} AND NOT ${open("OLD")}`,
    "status.created",
    "id"
  ),
  ...told(
    "webhook_status_updated",
    "statuses",
    "UPDATE OF edited_at",
    `${everybodys("NEW")} AND OLD.edited_at IS DISTINCT FROM NEW.edited_at`,
    "status.updated",
    "id"
  )
]

export default Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* Effect.forEach(statements, (statement) => sql.unsafe(statement), { discard: true })
})
