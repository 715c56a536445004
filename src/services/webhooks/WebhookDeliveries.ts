import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import type { Fragment } from "effect/sql/Statement"
import { rowsMax } from "../database/Paging.ts"
import { rowsOf, Timestamptz } from "../database/Rows.ts"
import * as Backoff from "../runtime/Backoff.ts"
import { traced } from "../runtime/Traced.ts"
import { WebhookEvent } from "./Webhook.ts"

/** Backoff of an event: eight tries within four hours. */
const webhookBackoff: Backoff.Backoff = {
  baseMillis: 5_000,
  growth: { factor: 4 },
  jitter: 0.25,
  capMillis: 2 * 3_600_000,
  triesMax: 8
}
/** Lease of a claimed event, in milliseconds: longer than one try takes. */
const claimMillis = 60_000
/** Maximum characters of a stored error. */
const errorCharactersMax = 500

const WebhookDelivery = Schema.Struct({
  /** Id of the event, the same in every try. */
  place: Schema.BigInt,
  webhookId: Schema.BigInt,
  event: WebhookEvent,
  objectId: Schema.BigInt,
  toldAt: Timestamptz,
  /** End of the lease. */
  dueAt: Timestamptz,
  tries: Schema.Int
})
export type WebhookDelivery = typeof WebhookDelivery.Type
const deliveryRows = rowsOf(WebhookDelivery)

/**
 * Queue of webhook events. Each webhook gets its events in the order in which they were written, one at a time and at
 * least once.
 */
export class WebhookDeliveries extends Context.Service<WebhookDeliveries, {
  /** Claims the first due event of each webhook, at most `max` events; the caller owns them until `dueAt`. */
  readonly claim: (max: number) => Effect.Effect<ReadonlyArray<WebhookDelivery>, SqlError>
  /** Removes an event that was delivered or is void. Claims and returns the webhook's next one. */
  readonly complete: (
    delivery: WebhookDelivery,
    taken: boolean
  ) => Effect.Effect<WebhookDelivery | undefined, SqlError>
  /** Schedules another try. Gives the event up after the last try, or if `retryable` is false. */
  readonly retry: (delivery: WebhookDelivery, reason: string, retryable: boolean) => Effect.Effect<void, SqlError>
}>()("murmuration/services/webhooks/WebhookDeliveries") {
  static readonly layer = Layer.effect(
    WebhookDeliveries,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const claimedAs = ({ dueAt, place }: WebhookDelivery) => sql`place = ${place} AND due_at = ${dueAt}`

      const claim = Effect.fnUntraced(function*(which: Fragment, max: number) {
        const now = yield* Clock.currentTimeMillis
        const at = new Date(now)
        return yield* deliveryRows(sql`
          WITH first AS (SELECT d.place FROM webhook_deliveries d WHERE (d.due_at IS NULL OR d.due_at <= ${at}) AND ${which}
            AND NOT EXISTS (SELECT FROM webhook_deliveries before
              WHERE before.webhook_id = d.webhook_id AND before.place < d.place)
            ORDER BY d.place LIMIT ${rowsMax(sql, max)} FOR UPDATE SKIP LOCKED)
          UPDATE webhook_deliveries d SET tries = d.tries + 1, due_at = ${new Date(now + claimMillis)},
            told_at = coalesce(d.told_at, ${at})
          FROM first WHERE d.place = first.place
          RETURNING d.place, d.webhook_id, d.event, d.object_id, d.told_at, d.due_at, d.tries`)
      })

      /** Gives up events whose last try ended with its process, which hold up the later ones. */
      const giveUpUnended = Effect.flatMap(Clock.currentTimeMillis, (now) => {
        const at = new Date(now)
        return sql`WITH ended AS (DELETE FROM webhook_deliveries
            WHERE due_at <= ${at} AND tries >= ${webhookBackoff.triesMax} RETURNING webhook_id)
          UPDATE webhooks SET failed_at = ${at}, error = 'The last try did not end', given_up = given_up + 1
          FROM ended WHERE id = ended.webhook_id`
      })

      return WebhookDeliveries.of({
        claim: traced("WebhookDeliveries.claim")(function*(max) {
          yield* giveUpUnended
          return yield* claim(sql`true`, max)
        }),
        complete: traced("WebhookDeliveries.complete")(function*(delivery, taken) {
          const at = new Date(yield* Clock.currentTimeMillis)
          yield* taken
            ? sql`WITH done AS (DELETE FROM webhook_deliveries WHERE ${claimedAs(delivery)} RETURNING webhook_id)
              UPDATE webhooks SET delivered_at = ${at}, given_up = 0, error = NULL FROM done WHERE id = done.webhook_id`
            : sql`DELETE FROM webhook_deliveries WHERE ${claimedAs(delivery)}`
          const [next] = yield* claim(sql`d.webhook_id = ${delivery.webhookId}`, 1)
          return next
        }),
        retry: traced("WebhookDeliveries.retry")(function*(delivery, reason, retryable) {
          const now = yield* Clock.currentTimeMillis
          const delay = retryable ? yield* Backoff.next(webhookBackoff, delivery.tries) : undefined
          const ended = delay === undefined
            ? sql`DELETE FROM webhook_deliveries WHERE ${claimedAs(delivery)} RETURNING webhook_id`
            : sql`UPDATE webhook_deliveries SET due_at = ${new Date(now + delay)} WHERE ${claimedAs(delivery)}
              RETURNING webhook_id`
          yield* sql`WITH ended AS (${ended}) UPDATE webhooks SET failed_at = ${new Date(now)},
              error = ${reason.slice(0, errorCharactersMax)}, given_up = given_up + ${delay === undefined ? 1 : 0}
            FROM ended WHERE id = ended.webhook_id`
        })
      })
    })
  )
}
