import { Effect, Schema } from "effect"
import type { SqlClient } from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import type { AccountId } from "../database/Ids.ts"
import { rowsOf, singleRow } from "../database/Rows.ts"
import { type Unprocessable, validationFailed } from "../runtime/Errors.ts"

/** Maximum pending messages of a device: from one sender, and from all senders of the kind together. */
const waitingMax = {
  /** The device's own account, and accounts that it follows. */
  known: { ofSender: 500, ofAll: 1_000 },
  stranger: { ofSender: 100, ofAll: 500 }
} as const

const waitingRows = rowsOf(
  Schema.Struct({ known: Schema.Boolean, ofSender: Schema.Int, ofStrangers: Schema.Int, ofAll: Schema.Int })
)

/** SQL condition: the account of device `d` is `other`, or follows it. */
export const isFollowedOrSelf = (sql: SqlClient, other: AccountId) =>
  sql`(d.account_id = ${other} OR EXISTS (SELECT FROM follows f
    WHERE f.account_id = d.account_id AND f.target_account_id = ${other}))`

/**
 * Checks that each device has room for the sender's messages, in the transaction that locks the devices. Otherwise the
 * sender is refused and pending messages stay: a stranger must not displace unread messages of others. Strangers share
 * half of a device's room; the other half is left for accounts that its owner follows.
 */
export const requireMessageCapacity = (
  sql: SqlClient,
  sender: AccountId,
  deliveries: ReadonlyArray<{ readonly device: bigint; readonly messages: number }>
): Effect.Effect<void, Unprocessable | SqlError> =>
  Effect.forEach(deliveries, ({ device, messages }) =>
    Effect.gen(function*() {
      const { known, ofAll, ofSender, ofStrangers } = singleRow(
        yield* waitingRows(sql`SELECT ${isFollowedOrSelf(sql, sender)} AS known,
            coalesce(sum(w.messages) FILTER (WHERE w.from_account_id = ${sender}), 0)::int AS of_sender,
            coalesce(sum(w.messages) FILTER (WHERE w.from_account_id <> d.account_id AND NOT EXISTS (SELECT FROM follows f
              WHERE f.account_id = d.account_id AND f.target_account_id = w.from_account_id)), 0)::int AS of_strangers,
            coalesce(sum(w.messages), 0)::int AS of_all
          FROM devices d LEFT JOIN LATERAL (SELECT from_account_id, count(*) AS messages FROM encrypted_messages
            WHERE device = d.id GROUP BY from_account_id) w ON TRUE
          WHERE d.id = ${device} GROUP BY d.id`)
      )
      const { ofAll: allMax, ofSender: senderMax } = waitingMax[known ? "known" : "stranger"]
      const isFull = ofSender + messages > senderMax || ofAll + messages > waitingMax.known.ofAll ||
        (!known && ofStrangers + messages > allMax)
      if (isFull) return yield* validationFailed(`Messages are too many (maximum is ${senderMax})`)
    }), { discard: true })
