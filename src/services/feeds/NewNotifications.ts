import type { SqlClient } from "effect/sql/SqlClient"
import type { Fragment } from "effect/sql/Statement"
import { enqueued } from "../intents/Pushes.ts"
import { kindOf, type NotificationType } from "../NotificationTypes.ts"
import { mayHave } from "./NotificationConditions.ts"

/**
 * The parts of a WITH that write notifications, as `told`, and the pushes of them. `recipients` selects whom to tell
 * (`account_id`) of which of `types` (`type`) by whom (`from_id`); `status_id` is 0 where there is none, and `report_id`,
 * where `types` name reports.
 */
export const telling = (
  sql: SqlClient,
  types: ReadonlyArray<NotificationType>,
  recipients: Fragment,
  now: number
): Fragment => {
  const at = new Date(now)
  const subject = types.every((type) => kindOf(type).subject === "report") ? "report_id" : "status_id"
  const column = sql.literal(subject)
  return sql`told AS (
    INSERT INTO notifications (id, account_id, type, from_account_id, ${column}, created_at)
    SELECT next_id(${now}), r.account_id, r.type, r.from_id, r.${column}, ${at}
    FROM (${recipients}) r JOIN users u ON u.account_id = r.account_id
    WHERE ${mayHave(sql, types, at)}
    ORDER BY r.account_id
    ON CONFLICT (account_id, type, from_account_id, status_id, report_id) DO NOTHING
    RETURNING id, account_id, type, from_account_id, status_id),
  ${enqueued(sql, at)}`
}
