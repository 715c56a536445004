import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import type { Fragment } from "effect/sql/Statement"
import { AccountId } from "../database/Ids.ts"
import { rowsMax } from "../database/Paging.ts"
import { rowsOf, Timestamptz } from "../database/Rows.ts"
import * as Backoff from "../runtime/Backoff.ts"
import { traced } from "../runtime/Traced.ts"
import { TraceParent } from "../runtime/TraceParents.ts"

/** Six tries within three hours, jitter included (operations.md section 11). */
const pushBackoff: Backoff.Backoff = {
  baseMillis: 20_000,
  growth: { factor: 4 },
  jitter: 0.5,
  capMillis: 2 * 3_600_000,
  triesMax: 6
}
/** Lease of a claimed push, in milliseconds; longer than one try takes. */
const claimMillis = 60_000
/**
 * Maximum waiting pushes of one subscription: in total, and before pushes about accounts that its owner does not follow
 * are dropped. A phone that comes back online needs no more, and strangers leave room for others.
 */
export const waitingMax = { ofAll: 200, ofStrangers: 100 } as const
/** Maximum pause that a push service may request, in milliseconds; older pushes are not sent at all (`Retention`). */
const restMillisMax = 48 * 3_600_000

const Push = Schema.Struct({
  subscriptionId: Schema.BigInt,
  notificationId: Schema.BigInt,
  accountId: AccountId,
  /** End of the claim. */
  dueAt: Timestamptz,
  tries: Schema.Int,
  traceParent: TraceParent
})
export type Push = typeof Push.Type
const pushRows = rowsOf(Push)

/**
 * Returns a CTE that enqueues pushes of the notifications in `told` (`id`, `account_id`, `type`, `from_account_id`,
 * `filtered`), for subscriptions of the recipients that want them. `parent` is the SQL of their `TraceParent`.
 */
export const enqueued = (sql: SqlClient.SqlClient, at: Date, parent: Fragment): Fragment =>
  sql`pushed AS (
    INSERT INTO pushes (subscription_id, notification_id, due_at, created_at, trace_parent)
    SELECT p.id, told.id, greatest(p.rests_until, ${at}), ${at}, ${parent} FROM told
    JOIN push_subscriptions p ON p.account_id = told.account_id AND p.alerts -> told.type = 'true'
    WHERE NOT told.filtered AND CASE p.policy WHEN 'all' THEN true
        WHEN 'followed' THEN EXISTS (SELECT FROM follows f
          WHERE f.account_id = told.account_id AND f.target_account_id = told.from_account_id)
        WHEN 'follower' THEN EXISTS (SELECT FROM follows f
          WHERE f.account_id = told.from_account_id AND f.target_account_id = told.account_id)
        ELSE false END
      AND (SELECT count(*) FROM (SELECT FROM pushes w WHERE w.subscription_id = p.id LIMIT ${waitingMax.ofAll}) w)
        < CASE WHEN EXISTS (SELECT FROM follows f WHERE f.account_id = told.account_id
          AND f.target_account_id = told.from_account_id) THEN ${waitingMax.ofAll}::int ELSE ${waitingMax.ofStrangers}::int END)`

/** Queue of push notifications: those of a subscription in order, at least once. */
export class Pushes extends Context.Service<Pushes, {
  /** Claims the first push of up to `pushesMax` due subscriptions, until the push's `dueAt`. */
  readonly claim: (pushesMax: number) => Effect.Effect<ReadonlyArray<Push>, SqlError>
  /** Removes a finished or useless push; returns the subscription's next one, claimed, if due. */
  readonly complete: (push: Push) => Effect.Effect<Push | undefined, SqlError>
  /** Schedules a retry, not before `notBeforeMillis` have passed; drops the push after the last try. */
  readonly retry: (push: Push, notBeforeMillis: number) => Effect.Effect<void, SqlError>
}>()("murmuration/services/intents/Pushes") {
  static readonly layer = Layer.effect(
    Pushes,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const claimedAs = ({ dueAt, notificationId, subscriptionId }: Push) =>
        sql`subscription_id = ${subscriptionId} AND notification_id = ${notificationId} AND due_at = ${dueAt}`

      const claim = Effect.fnUntraced(function*(which: Fragment, pushesMax: number) {
        const now = yield* Clock.currentTimeMillis
        return yield* pushRows(sql`
          WITH first AS (SELECT w.subscription_id, w.notification_id FROM pushes w
            WHERE w.due_at <= ${new Date(now)} AND ${which} AND NOT EXISTS (SELECT FROM pushes before
              WHERE before.subscription_id = w.subscription_id AND before.notification_id < w.notification_id)
            ORDER BY w.due_at LIMIT ${rowsMax(sql, pushesMax)} FOR UPDATE SKIP LOCKED)
          UPDATE pushes SET tries = pushes.tries + 1, due_at = ${new Date(now + claimMillis)}
          FROM first, push_subscriptions s
          WHERE pushes.subscription_id = first.subscription_id AND pushes.notification_id = first.notification_id
            AND s.id = pushes.subscription_id
          RETURNING pushes.subscription_id, pushes.notification_id, s.account_id, pushes.due_at, pushes.tries,
            pushes.trace_parent`)
      })

      const complete = traced("Pushes.complete")(function*(push: Push) {
        yield* sql`DELETE FROM pushes WHERE ${claimedAs(push)}`
        const [next] = yield* claim(sql`w.subscription_id = ${push.subscriptionId}`, 1)
        return next
      })

      const retry = traced("Pushes.retry")(function*(push: Push, notBeforeMillis: number) {
        const delay = yield* Backoff.next(pushBackoff, push.tries)
        if (delay === undefined) return yield* Effect.asVoid(sql`DELETE FROM pushes WHERE ${claimedAs(push)}`)
        const dueAt = new Date(
          (yield* Clock.currentTimeMillis) + Math.max(delay, Math.min(notBeforeMillis, restMillisMax))
        )
        yield* sql`WITH again AS (UPDATE pushes SET due_at = ${dueAt} WHERE ${
          claimedAs(push)
        } RETURNING subscription_id),
          later AS (UPDATE pushes w SET due_at = ${dueAt} FROM again
            WHERE w.subscription_id = again.subscription_id AND w.notification_id > ${push.notificationId})
          UPDATE push_subscriptions SET rests_until = ${dueAt} WHERE id IN (SELECT subscription_id FROM again)`
      })

      return Pushes.of({
        claim: traced("Pushes.claim")(function*(pushesMax) {
          const at = new Date(yield* Clock.currentTimeMillis)
          // Their last try ended with its process; they hold up the later ones.
          yield* sql`DELETE FROM pushes WHERE due_at <= ${at} AND tries >= ${pushBackoff.triesMax}`
          return yield* claim(sql`true`, pushesMax)
        }),
        complete,
        retry
      })
    })
  )
}
