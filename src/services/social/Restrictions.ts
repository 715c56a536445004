import { Clock, Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { only } from "../Rows.ts"
import { traced } from "../Traced.ts"

/** Blocks and mutes, written inside the transaction of the account that sets them. */
export class Restrictions extends Context.Service<Restrictions, {
  /** Blocks, and removes what stood between the two: notifications and endorsements both ways. */
  readonly block: (account: bigint, target: bigint) => Effect.Effect<boolean, SqlError>
  readonly unblock: (account: bigint, target: bigint) => Effect.Effect<boolean, SqlError>
  /** Mutes until `expiresAt` (milliseconds since 1970) or for ever; answers the mute's id. */
  readonly mute: (
    account: bigint,
    target: bigint,
    options: { readonly hideNotifications: boolean; readonly expiresAt: number | undefined }
  ) => Effect.Effect<bigint, SqlError>
  /** The id of the mute that was removed. */
  readonly unmute: (account: bigint, target: bigint) => Effect.Effect<bigint | undefined, SqlError>
  /** Removes a mute whose time is over; false where it is gone or was prolonged. */
  readonly expire: (account: bigint, muteId: bigint) => Effect.Effect<boolean, SqlError>
}>()("murmuration/services/social/Restrictions") {
  static readonly layer = Layer.effect(
    Restrictions,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      return Restrictions.of({
        block: traced("Restrictions.block")(function*(account, target) {
          const now = yield* Clock.currentTimeMillis
          const added = yield* sql`INSERT INTO blocks (id, account_id, target_account_id)
            VALUES (next_id(${now}), ${account}, ${target}) ON CONFLICT DO NOTHING RETURNING id`
          const between = sql`(account_id = ${account} AND target_account_id = ${target})
            OR (account_id = ${target} AND target_account_id = ${account})`
          yield* sql`DELETE FROM endorsements WHERE ${between}`
          yield* sql`DELETE FROM notifications WHERE account_id = ${account} AND from_account_id = ${target}`
          yield* sql`DELETE FROM notifications WHERE account_id = ${target} AND from_account_id = ${account}`
          yield* sql`DELETE FROM account_conversations WHERE account_id = ${account} AND participant_ids @> ARRAY[${target}]::bigint[]`
          return added.length > 0
        }),
        unblock: traced("Restrictions.unblock")(function*(account, target) {
          const removed = yield* sql`DELETE FROM blocks
            WHERE account_id = ${account} AND target_account_id = ${target} RETURNING id`
          return removed.length > 0
        }),
        mute: traced("Restrictions.mute")(function*(account, target, { expiresAt, hideNotifications }) {
          const now = yield* Clock.currentTimeMillis
          const rows = yield* sql<{ id: bigint }>`
            INSERT INTO mutes (id, account_id, target_account_id, hide_notifications, expires_at)
            VALUES (next_id(${now}), ${account}, ${target}, ${hideNotifications},
              ${expiresAt === undefined ? null : new Date(expiresAt)})
            ON CONFLICT (account_id, target_account_id) DO UPDATE
              SET hide_notifications = EXCLUDED.hide_notifications, expires_at = EXCLUDED.expires_at
            RETURNING id`
          return only(rows).id
        }),
        unmute: traced("Restrictions.unmute")(function*(account, target) {
          const [row] = yield* sql<{ id: bigint }>`DELETE FROM mutes
            WHERE account_id = ${account} AND target_account_id = ${target} RETURNING id`
          return row?.id
        }),
        expire: traced("Restrictions.expire")(function*(account, muteId) {
          const now = new Date(yield* Clock.currentTimeMillis)
          const removed = yield* sql`DELETE FROM mutes
            WHERE id = ${muteId} AND account_id = ${account} AND expires_at <= ${now} RETURNING id`
          return removed.length > 0
        })
      })
    })
  )
}
