import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { AccountId } from "../../src/services/Ids.ts"
import type { Facts } from "./Facts.ts"

/** Of what phones want to hear. */
const alerts = ["mention", "favourite", "reblog", "follow", "follow_request"]

/** Everybody has a phone that wants to hear of everything. */
export const insert = Effect.fnUntraced(function*(people: ReadonlyArray<AccountId>, at: Date) {
  const sql = yield* SqlClient.SqlClient
  const wanted = JSON.stringify(Object.fromEntries(alerts.map((type) => [type, true])))
  yield* sql`WITH tokens AS (INSERT INTO oauth_tokens (id, token_hash, account_id, scopes, created_at)
      SELECT a, int8send(a), a, '{push}', ${at} FROM unnest(${people}::bigint[]) a RETURNING id, account_id)
    INSERT INTO push_subscriptions (token_id, account_id, endpoint, p256dh, auth, standard, policy, alerts, sealed_token, created_at)
    SELECT id, account_id, 'https://push.test/' || id, '', '', true, 'all', ${wanted}::jsonb, '', ${at} FROM tokens ORDER BY id`
})

/**
 * I24: each notification is a push for its owner's phone, once; one that waits until its sender is heard is none. Private
 * mentions are left out of those that must be: they may have waited.
 */
export const check = Effect.fnUntraced(function*(sql: SqlClient.SqlClient, { byId, rows: { notifications } }: Facts) {
  const rows = yield* sql<{ notificationId: bigint; times: number }>`SELECT notification_id, count(*)::int AS times
    FROM pushes GROUP BY 1 ORDER BY 1`
  const pushed = new Map(rows.map(({ notificationId, times }) => [notificationId, times]))
  return notifications.flatMap(({ accountId, filtered, id, statusId, type }) => {
    const times = pushed.get(id) ?? 0
    if (filtered && times > 0) return [`I24: ${id} waits, and is pushed`]
    const maybe = filtered || !alerts.includes(type) || byId.get(statusId)?.visibility === "direct"
    if (times > 1 || (times === 0 && !maybe)) return [`I24: the phone of ${accountId} is told ${times} times of ${id}`]
    return []
  })
})
