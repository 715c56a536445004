import type { SqlClient } from "effect/sql/SqlClient"
import type { Fragment } from "effect/sql/Statement"
import type { NewNotification } from "../intents/Intent.ts"
import { enqueued } from "../intents/Pushes.ts"
import { policyDecision } from "../notifications/NotificationPolicy.ts"
import {
  filterableTypes,
  type NotificationType,
  requestTypes,
  usesReportId
} from "../notifications/NotificationTypes.ts"
import { isOf, isSubjectValid, mayReceive } from "./NotificationConditions.ts"

/**
 * Returns CTEs that write notifications (as `told`), notification requests and pushes. `recipients` selects the
 * recipient (`account_id`), one of `types` (`type`) and the sender (`from_id`); `status_id` is 0 without a status, and
 * is `report_id` for `types` of reports or collections. Notifications that the recipient's policy drops are not
 * written. `parent` is the SQL of the `TraceParent` of their pushes; it may use the columns of `told`.
 */
export const notificationCtes = (
  sql: SqlClient,
  types: ReadonlyArray<NotificationType>,
  recipients: Fragment,
  now: number,
  parent: Fragment
): Fragment => {
  const at = new Date(now)
  const subject = types.every(usesReportId) ? "report_id" : "status_id"
  const column = sql.literal(subject)
  const isDecided = types.some((type) => filterableTypes.includes(type))
  const decided = isDecided
    ? sql`CROSS JOIN LATERAL (SELECT ${policyDecision(sql, at)} AS decision OFFSET 0) policy`
    : sql``
  const inserted = sql`told AS (
    INSERT INTO notifications (id, account_id, type, from_account_id, ${column}, created_at, filtered)
    SELECT next_id(${now}), r.account_id, r.type, r.from_id, r.${column}, ${at},
      ${sql.literal(isDecided ? "policy.decision = 'filter'" : "false")}
    FROM (${recipients}) r JOIN users u ON u.account_id = r.account_id ${decided}
    WHERE ${mayReceive(sql, types, at)} ${sql.literal(isDecided ? "AND policy.decision <> 'drop'" : "")}
    ORDER BY r.account_id
    ON CONFLICT (account_id, type, from_account_id, status_id, report_id) DO NOTHING
    RETURNING id, account_id, type, from_account_id, status_id, filtered)`
  if (!types.some((type) => requestTypes.includes(type))) return sql`${inserted}, ${enqueued(sql, at, parent)}`
  return sql`${inserted}, requested AS (
    INSERT INTO notification_requests (id, account_id, from_account_id, created_at, updated_at)
    SELECT next_id(${now}), w.account_id, w.from_account_id, ${at}, ${at}
    FROM (SELECT DISTINCT account_id, from_account_id FROM told
      WHERE filtered AND ${isOf(sql, "told", requestTypes)} ORDER BY account_id, from_account_id) w
    ON CONFLICT (account_id, from_account_id) DO UPDATE SET updated_at = EXCLUDED.updated_at), ${
    enqueued(sql, at, parent)
  }`
}

/** A notification to write and its sender; `key` identifies it in the batch. */
export interface PendingNotification {
  readonly key: bigint
  readonly from: bigint
  readonly notification: NewNotification
}

/** Selects the recipients of those reasons that are still true, with their keys. */
export const validNotifications = (sql: SqlClient, reasons: ReadonlyArray<PendingNotification>): Fragment =>
  sql`SELECT * FROM unnest(${reasons.map(({ key }) => key)}::bigint[],
      ${reasons.map(({ notification }) => notification.to)}::bigint[], ${
    reasons.map(({ notification }) => notification.type)
  }::text[],
      ${reasons.map(({ from }) => from)}::bigint[],
      ${reasons.map(({ notification }) => notification.statusId ?? 0n)}::bigint[])
      AS n (key, account_id, type, from_id, status_id)
    WHERE ${isSubjectValid(sql)}`
