import { Clock, Effect } from "effect"
import { SqlClient } from "effect/sql"
import { recount } from "./Recount.ts"

/** Time after a run before which no old post is deleted, so that a run with mistakes costs no post, in milliseconds. */
const cleanupDelayMillis = 86_400_000

/** Ends a run: links replies with parents that came after them, recomputes counters, and postpones deletions of old posts. */
export const close = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* sql`UPDATE statuses s SET in_reply_to_id = p.id, in_reply_to_account_id = p.account_id, in_reply_to_uri = NULL
    FROM statuses p WHERE s.in_reply_to_uri IS NOT NULL AND s.in_reply_to_id IS NULL AND p.uri = s.in_reply_to_uri AND p.id <> s.id`
  yield* recount
  const due = new Date((yield* Clock.currentTimeMillis) + cleanupDelayMillis)
  yield* sql`UPDATE agenda SET due_at = ${due} WHERE kind = 'post_cleanup' AND due_at < ${due}`
})
