import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Functions of triggers by what they tell of. */
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

/** Where there are no webhooks, which is so on most servers, a post pays for a look at an empty table and for nothing more. */
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
