import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** E-mails that users chose or declined, and when they were last seen: notifications are e-mailed while they are away. */
export default Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE TABLE email_choices (
    account_id bigint PRIMARY KEY REFERENCES users (account_id) ON DELETE CASCADE,
    types text[],
    declined text[] NOT NULL,
    seen_at timestamptz NOT NULL,
    emailed_id bigint NOT NULL DEFAULT 0,
    due_at timestamptz
  )`
  yield* sql`CREATE INDEX email_choices_due ON email_choices (due_at)`
  yield* sql`COMMENT ON TABLE email_choices IS 'E-mails that users chose or declined; users without a row have the defaults.'`
  yield* sql`COMMENT ON COLUMN email_choices.types IS 'Types of notifications that are e-mailed; null for a user who never chose.'`
  yield* sql`COMMENT ON COLUMN email_choices.declined IS 'E-mails to staff that the user does not want.'`
  yield* sql`COMMENT ON COLUMN email_choices.seen_at IS 'Last request of the user, to ten minutes; kept while due_at is set.'`
  yield* sql`COMMENT ON COLUMN email_choices.emailed_id IS 'Newest notification that an e-mail was about.'`
  yield* sql`COMMENT ON COLUMN email_choices.due_at IS 'Next check for new notifications; null without types.'`
})
