import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import type { AccountId } from "../database/Ids.ts"
import { clauses, newestFirst, type Page } from "../database/Paging.ts"
import { idRows, rowsOf, singleRow, Timestamptz } from "../database/Rows.ts"
import * as RowChanges from "../events/RowChanges.ts"
import { traced } from "../runtime/Traced.ts"
import { isUnexpiredAt } from "../visibility/HiddenAccounts.ts"
import { isSuspended } from "../visibility/SuspendedAccounts.ts"

/** A muted account; `expiresAt` is null for a mute without an end. */
const Muted = Schema.Struct({ cursor: Schema.BigInt, accountId: Schema.BigInt, expiresAt: Schema.NullOr(Timestamptz) })
type Muted = typeof Muted.Type
const mutedRows = rowsOf(Muted)

/** Mutes of an account: written in the transaction of its command, paged by mute id. */
export class Mutes extends Context.Service<Mutes, {
  /**
   * Mutes until `expiresAt` (milliseconds since 1970) or forever; returns the mute's id. With `allowReplies` undefined,
   * an existing mute keeps that option.
   */
  readonly mute: (
    account: bigint,
    target: bigint,
    options: {
      readonly hideNotifications: boolean
      readonly allowReplies: boolean | undefined
      readonly expiresAt: number | undefined
    }
  ) => Effect.Effect<bigint, SqlError>
  /** Removes a mute; returns its id. */
  readonly unmute: (account: bigint, target: bigint) => Effect.Effect<bigint | undefined, SqlError>
  /** Removes an expired mute; false if it is gone or was prolonged. */
  readonly expire: (account: bigint, muteId: bigint) => Effect.Effect<boolean, SqlError>
  /** Returns muted accounts, except suspended ones. */
  readonly page: (account: AccountId, page: Page) => Effect.Effect<ReadonlyArray<Muted>>
}>()("murmuration/services/social/Mutes") {
  static readonly layer = Layer.effect(
    Mutes,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const tracked = yield* RowChanges.make
      const isPresent = sql`NOT ${isSuspended(sql, sql`r.target_account_id`)}`

      const muted = traced("Mutes.page")(function*(account: AccountId, page: Page) {
        if (page.limit === 0) return []
        const now = new Date(yield* Clock.currentTimeMillis)
        const { tail, where } = clauses(sql, "r.id", page)
        const rows = yield* mutedRows(
          sql`SELECT r.id AS cursor, r.target_account_id AS account_id, r.expires_at FROM mutes r
          WHERE r.account_id = ${account} AND ${where} AND ${
            isUnexpiredAt(sql, "r.expires_at", now)
          } AND ${isPresent} ${tail}`
        )
        return newestFirst(page, rows)
      }, Effect.orDie)

      return Mutes.of({
        mute: traced("Mutes.mute")(function*(account, target, { allowReplies, expiresAt, hideNotifications }) {
          const now = yield* Clock.currentTimeMillis
          const rows = yield* idRows(
            tracked("relations", [account, target])(sql`
            INSERT INTO mutes (id, account_id, target_account_id, hide_notifications, allow_replies, expires_at)
            VALUES (next_id(${now}), ${account}, ${target}, ${hideNotifications}, ${allowReplies ?? false},
              ${expiresAt === undefined ? null : new Date(expiresAt)})
            ON CONFLICT (account_id, target_account_id) DO UPDATE
              SET hide_notifications = EXCLUDED.hide_notifications,
                allow_replies = ${allowReplies === undefined ? sql`mutes.allow_replies` : sql`EXCLUDED.allow_replies`},
                expires_at = EXCLUDED.expires_at
            RETURNING id`)
          )
          return singleRow(rows).id
        }),
        unmute: traced("Mutes.unmute")(function*(account, target) {
          const [row] = yield* idRows(
            tracked("relations", [account, target])(sql`DELETE FROM mutes
            WHERE account_id = ${account} AND target_account_id = ${target} RETURNING id`)
          )
          return row?.id
        }),
        expire: traced("Mutes.expire")(function*(account, muteId) {
          const now = new Date(yield* Clock.currentTimeMillis)
          const removed = yield* tracked("relations", [account])(sql`DELETE FROM mutes
            WHERE id = ${muteId} AND account_id = ${account} AND expires_at <= ${now} RETURNING id`)
          return removed.length > 0
        }),
        page: muted
      })
    })
  )
}
