import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Queue of e-mails that a committed act promises: written with the act, sent after it. */
export default Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE TABLE promised_emails (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    kind text NOT NULL,
    subject_id bigint NOT NULL,
    details jsonb,
    due_at timestamptz NOT NULL,
    tries integer NOT NULL DEFAULT 0
  )`
  yield* sql`CREATE INDEX promised_emails_due ON promised_emails (due_at)`
  yield* sql`CREATE INDEX promised_emails_kind ON promised_emails (kind)`
  yield* sql`COMMENT ON TABLE promised_emails IS
    'E-mails that a committed act promises, deleted when sent. Any node may send them.'`
  yield* sql`COMMENT ON COLUMN promised_emails.kind IS
    'Reason of the e-mails, or "email" for one that is written out to its recipient.'`
  yield* sql`COMMENT ON COLUMN promised_emails.details IS 'Facts that the subject''s rows no longer show, or the e-mail.'`
})
