import { Effect } from "effect"
import { SqlClient } from "effect/sql"

const tables = [
  "account_intents",
  "errands",
  "fanouts",
  "inbound_activities",
  "media_attachments",
  "outgoing_activities",
  "preview_cards",
  "promised_emails",
  "pushes"
]

/** Rows of durable work keep the span that wrote them, so that their work continues its trace. */
export default Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  for (const table of tables) {
    yield* sql`ALTER TABLE ${sql(table)} ADD COLUMN trace_parent text`
    yield* sql`COMMENT ON COLUMN ${sql(table)}.trace_parent IS
      'Span that wrote the row, as a traceparent of W3C Trace Context (55 characters); null without tracing.'`
  }
})
