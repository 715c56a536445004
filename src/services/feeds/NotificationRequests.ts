import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { Fragment } from "effect/sql/Statement"
import type { AccountId } from "../database/Ids.ts"
import { clauses, newestFirst, type Page, rowsMax } from "../database/Paging.ts"
import { rowsOf, Timestamptz } from "../database/Rows.ts"
import { transaction } from "../database/Transactions.ts"
import { Broadcast } from "../events/Broadcast.ts"
import { requestTypes } from "../notifications/NotificationTypes.ts"
import { RecordNotFound } from "../runtime/Errors.ts"
import { traced } from "../runtime/Traced.ts"
import { ConversationWriter } from "../statuses/ConversationWriter.ts"
import { everything, selectionCondition } from "./Notifications.ts"

/** Maximum notifications counted per request, and maximum requests counted (limits-and-rates.md section 5). */
const requestCountMax = 100
/** Maximum direct messages of accepted senders that are added to conversations, newest first. */
const acceptedMessagesMax = 200

/** A sender's filtered notifications. */
const NotificationRequest = Schema.Struct({
  id: Schema.BigInt,
  fromAccountId: Schema.BigInt,
  createdAt: Timestamptz,
  updatedAt: Timestamptz,
  count: Schema.Int,
  lastStatusId: Schema.BigInt
})
export type NotificationRequest = typeof NotificationRequest.Type
const requestRows = rowsOf(NotificationRequest)
const senderRows = rowsOf(Schema.Struct({ fromAccountId: Schema.BigInt }))
const messageRows = rowsOf(Schema.Struct({ statusId: Schema.BigInt }))

export interface RequestCounts {
  readonly requests: number
  readonly notifications: number
}
export const countsOf = (requests: ReadonlyArray<NotificationRequest>): RequestCounts => ({
  requests: requests.length,
  notifications: requests.reduce((sum, { count }) => sum + count, 0)
})

/**
 * Senders whose notifications the policy filtered. A request is shown while one of its notifications can be shown:
 * deleted or hidden ones do not count.
 */
export class NotificationRequests extends Context.Service<NotificationRequests, {
  readonly page: (owner: AccountId, page: Page) => Effect.Effect<ReadonlyArray<NotificationRequest>>
  readonly newest: (owner: AccountId) => Effect.Effect<ReadonlyArray<NotificationRequest>>
  readonly find: (owner: AccountId, id: bigint) => Effect.Effect<NotificationRequest, RecordNotFound>
  /** Accepts these senders permanently and merges their filtered notifications at once. */
  readonly accept: (owner: AccountId, ids: ReadonlyArray<bigint>) => Effect.Effect<void>
  /** Deletes requests and their filtered notifications; another post of the sender makes a new request. */
  readonly dismiss: (owner: AccountId, ids: ReadonlyArray<bigint>) => Effect.Effect<void>
}>()("murmuration/services/feeds/NotificationRequests") {
  static readonly layerNoDeps = Layer.effect(
    NotificationRequests,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const broadcast = yield* Broadcast
      const conversations = yield* ConversationWriter

      const read = Effect.fnUntraced(function*(owner: AccountId, condition: Fragment, tail: Fragment) {
        const now = new Date(yield* Clock.currentTimeMillis)
        const waiting = selectionCondition(
          sql,
          owner,
          { ...everything, types: requestTypes, includeFiltered: true },
          now
        )
        return yield* requestRows(sql`
          SELECT q.id, q.from_account_id, q.created_at, q.updated_at, w.count, w.last_status_id
          FROM notification_requests q CROSS JOIN LATERAL (
            SELECT count(*)::int AS count, (array_agg(m.status_id ORDER BY m.id DESC))[1] AS last_status_id
            FROM (SELECT n.id, n.status_id FROM notifications n
              WHERE ${waiting} AND n.filtered AND n.from_account_id = q.from_account_id
              ORDER BY n.id DESC LIMIT ${rowsMax(sql, requestCountMax)}) m) w
          WHERE q.account_id = ${owner} AND w.count > 0 AND ${condition} ${tail}`)
      }, Effect.orDie)

      const page = traced("NotificationRequests.page")(function*(owner: AccountId, page: Page) {
        if (page.limit === 0) return []
        const { tail, where } = clauses(sql, "q.id", page)
        return newestFirst(page, yield* read(owner, where, tail))
      })

      const accept = traced("NotificationRequests.accept")(function*(owner: AccountId, ids: ReadonlyArray<bigint>) {
        yield* Effect.gen(function*() {
          const senders = yield* senderRows(sql`
            WITH gone AS (DELETE FROM notification_requests
              WHERE account_id = ${owner} AND id = ANY (${ids}::bigint[]) RETURNING from_account_id),
            heard AS (INSERT INTO notification_permissions (account_id, from_account_id)
              SELECT ${owner}, from_account_id FROM gone ORDER BY from_account_id ON CONFLICT DO NOTHING)
            SELECT from_account_id FROM gone`)
          if (senders.length === 0) return
          const from = senders.map(({ fromAccountId }) => fromAccountId)
          const messages = yield* messageRows(sql`
            SELECT n.status_id FROM notifications n JOIN statuses s ON s.id = n.status_id
            WHERE n.account_id = ${owner} AND n.from_account_id = ANY (${from}::bigint[]) AND n.filtered
              AND n.type = 'mention' AND s.visibility = 'direct' AND s.deleted_at IS NULL
            ORDER BY n.id DESC LIMIT ${rowsMax(sql, acceptedMessagesMax)}`)
          yield* sql`UPDATE notifications SET filtered = false
            WHERE account_id = ${owner} AND from_account_id = ANY (${from}::bigint[]) AND filtered`
          const changed = yield* Effect.forEach(
            messages.toReversed(),
            ({ statusId }) => conversations.record(statusId)
          )
          const own = new Set(changed.flat().filter(({ accountId }) => accountId === owner).map(({ id }) => id))
          yield* sql.afterCommit(
            broadcast.publish({ _tag: "NotificationsMerged", accountId: owner }).pipe(
              Effect.andThen(
                Effect.forEach(
                  own,
                  (conversationId) =>
                    broadcast.publish({ _tag: "ConversationChanged", accountId: owner, conversationId })
                )
              )
            )
          )
        }).pipe(transaction(sql), Effect.orDie)
      })

      const dismiss = traced("NotificationRequests.dismiss")((owner: AccountId, ids: ReadonlyArray<bigint>) =>
        sql`WITH gone AS (DELETE FROM notification_requests
            WHERE account_id = ${owner} AND id = ANY (${ids}::bigint[]) RETURNING from_account_id)
          DELETE FROM notifications n USING gone
          WHERE n.account_id = ${owner} AND n.from_account_id = gone.from_account_id AND n.filtered`.pipe(
          transaction(sql),
          Effect.orDie,
          Effect.asVoid
        )
      )

      return NotificationRequests.of({
        page,
        newest: (owner) => page(owner, { limit: requestCountMax }),
        find: traced("NotificationRequests.find")(function*(owner, id) {
          const [found] = yield* read(owner, sql`q.id = ${id}`, sql``)
          return found ?? (yield* new RecordNotFound())
        }),
        accept,
        dismiss
      })
    })
  )
  static readonly layer = NotificationRequests.layerNoDeps.pipe(Layer.provide(ConversationWriter.layer))
}
