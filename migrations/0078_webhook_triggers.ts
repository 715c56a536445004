import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Trigger functions by event. */
const told = {
  webhook_account_created: ["account.created", "account_id"],
  webhook_account_joined: ["account.approved", "account_id"],
  webhook_account_approved: ["account.approved", "account_id"],
  webhook_account_updated: ["account.updated", "id"],
  webhook_report_created: ["report.created", "id"],
  webhook_report_updated: ["report.updated", "id"],
  webhook_status_created: ["status.created", "id"],
  webhook_status_revealed: ["status.created", "id"],
  webhook_status_updated: ["status.updated", "id"]
} as const

/** Without webhooks, as on most servers, a post costs one look at an empty table. */
const statements = Object.entries(told).map(([name, [event, object]]) =>
  `CREATE OR REPLACE FUNCTION ${name}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    IF EXISTS (SELECT FROM webhooks) THEN
      PERFORM webhook_told('${event}', NEW.${object});
    END IF;
    RETURN NULL;
  END $$`
)

export default Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* Effect.forEach(statements, (statement) => sql.unsafe(statement), { discard: true })
})
