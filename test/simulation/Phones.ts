import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { AccountId } from "../../src/services/database/Ids.ts"
import { moderated } from "./ConsentPlan.ts"
import { type Facts, pair } from "./Facts.ts"
import type { Aftermath } from "./Invariants.ts"
import { addressOf, type Received } from "./PushService.ts"
import type { World } from "./World.ts"

/** Notification types that phones subscribe to. */
const alerts = [
  "mention",
  "favourite",
  "reblog",
  "follow",
  "follow_request",
  "poll",
  "quote",
  "pending.reply",
  "pending.quote"
]

/** Time for which a due push may have no sender, in milliseconds. */
const idleMillis = 5_000
/** Minimum duration of a node's claim to a push by any clock, in milliseconds. */
const claimMillis = 50_000
/** Milliseconds within which notifications of different nodes may arrive in any order. */
const orderMillis = 500

/** Gives everybody a phone that subscribes to all types. */
export const insert = Effect.fnUntraced(function*(people: ReadonlyArray<AccountId>, at: Date) {
  const sql = yield* SqlClient.SqlClient
  const wanted = JSON.stringify(Object.fromEntries(alerts.map((type) => [type, true])))
  yield* sql`WITH tokens AS (INSERT INTO oauth_tokens (id, token_hash, account_id, scopes, created_at)
      SELECT a, int8send(a), a, '{push}', ${at} FROM unnest(${people}::bigint[]) a RETURNING id, account_id)
    INSERT INTO push_subscriptions (token_id, account_id, endpoint, p256dh, auth, standard, policy, alerts, sealed_token, created_at)
    SELECT id, account_id, ${
    addressOf("")
  } || id, '', '', true, 'all', ${wanted}::jsonb, '', ${at} FROM tokens ORDER BY id`
})

/** Counts push rows by notification, for runs in which none are sent. */
const pushCounts = Effect.fnUntraced(function*(sql: SqlClient.SqlClient) {
  const rows = yield* sql<{ notificationId: bigint; times: number }>`SELECT notification_id, count(*)::int AS times
    FROM pushes GROUP BY 1 ORDER BY 1`
  return new Map(rows.map(({ notificationId, times }) => [notificationId, times]))
})

/**
 * I24: each notification is pushed once to its owner's phone, and filtered ones are not. Private mentions are optional,
 * because they may have waited.
 */
export const check = Effect.fnUntraced(function*({ outcomes, shared: { sql }, world }: Aftermath, facts: Facts) {
  const { byId, rows: { accepted, notifications } } = facts
  const pushed = yield* pushCounts(sql)
  const restricted = moderated(outcomes)
  const broken = world.withConsents ? yield* sent(world, sql, pushed) : []
  const violations = notifications.flatMap(({ accountId, filtered, fromAccountId, id, statusId, type }) => {
    const times = pushed.get(id) ?? 0
    if (filtered && times > 0) return [`I24: ${id} is filtered, but was pushed`]
    const isRestricted = restricted.has(accountId) || restricted.has(fromAccountId)
    // An accepted notification may have waited.
    const mayBeFiltered = byId.get(statusId)?.visibility === "direct" || accepted.has(pair(fromAccountId, accountId))
    const optional = filtered || isRestricted || !alerts.includes(type) || mayBeFiltered
    if (times > 1 || (times === 0 && !optional)) return [`I24: the phone of ${accountId} got ${times} pushes of ${id}`]
    return []
  })
  return [...broken, ...violations]
})

/** Adds the sent pushes; returns errors of their delivery. */
const sent = Effect.fnUntraced(function*(world: World, sql: SqlClient.SqlClient, pushed: Map<bigint, number>) {
  const { done, received, tried } = world.phones
  const broken: Array<string> = []
  const left = yield* sql<{ id: bigint }>`SELECT notification_id AS id FROM pushes
    WHERE due_at < ${new Date(world.time.now - idleMillis)}`
  for (const { id } of left) broken.push(`I16: the push of ${id} is left`)
  for (const key of tried) {
    const id = BigInt(key.split(" ")[1] ?? 0)
    if (!pushed.has(id)) pushed.set(id, 1)
  }
  const publishedAt = new Map(
    world.busMessages.flatMap(({ at, message }) =>
      message._tag === "NotificationCreated" ? [[message.notificationId, at] as const] : []
    )
  )
  /** Latest time at which the notification existed. */
  const existedAt = (id: bigint, receivedAt: number) => Math.min(publishedAt.get(id) ?? Infinity, receivedAt)
  for (const [phone, messages] of Map.groupBy(received, ({ subscription }) => subscription)) {
    const before = new Map<bigint, Received>()
    const latest = new Map<bigint, Received>()
    for (const message of messages) {
      const { at, notificationId } = message
      const first = before.get(notificationId)
      const isDone = (done.get(`${phone} ${notificationId}`) ?? Infinity) < at
      const isClaimed = latest.get(notificationId)?.responded === true &&
        at - (latest.get(notificationId)?.at ?? 0) < claimMillis
      if (first !== undefined) world.count("push repeated")
      if (first !== undefined && (isDone || isClaimed)) {
        broken.push(`I24: ${phone} got the push of ${notificationId} twice`)
      }
      const overtaking = [...before.values()].find((other) =>
        other.notificationId > notificationId &&
        existedAt(other.notificationId, other.at) > (publishedAt.get(notificationId) ?? Infinity) + orderMillis
      )
      if (first === undefined && overtaking !== undefined) {
        broken.push(`I24: ${phone} got the push of ${notificationId} after ${overtaking.notificationId}`)
      }
      if (first === undefined) before.set(notificationId, message)
      latest.set(notificationId, message)
    }
    world.counts.set("push", (world.counts.get("push") ?? 0) + before.size)
  }
  return broken
})
