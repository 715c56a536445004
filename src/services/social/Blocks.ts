import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { AccountId } from "../database/Ids.ts"
import { clauses, newestFirst, type Page } from "../database/Paging.ts"
import { idRows, rowsOf } from "../database/Rows.ts"
import * as RowChanges from "../events/RowChanges.ts"
import { traced } from "../runtime/Traced.ts"
import type { Listed } from "../statuses/Interactions.ts"
import { isSuspended } from "../visibility/SuspendedAccounts.ts"

const targetRows = rowsOf(Schema.Struct({ accountId: AccountId }))
const listedRows = rowsOf(Schema.Struct({ cursor: Schema.BigInt, accountId: Schema.BigInt }))

/** Blocks of an account: written in the transaction of its command, paged by block id. */
export class Blocks extends Context.Service<Blocks, {
  /**
   * Blocks an account, and deletes notifications, notification requests and endorsements in both directions, and
   * conversations with it. Returns the id of a new block.
   */
  readonly block: (account: bigint, target: bigint) => Effect.Effect<bigint | undefined, SqlError>
  /** Returns the target of an account's block, by its id; undefined if it was lifted. */
  readonly targetOf: (account: bigint, blockId: bigint) => Effect.Effect<AccountId | undefined, SqlError>
  readonly unblock: (account: bigint, target: bigint) => Effect.Effect<boolean, SqlError>
  /** Returns blocked accounts, except suspended ones. */
  readonly page: (account: AccountId, page: Page) => Effect.Effect<ReadonlyArray<Listed>>
}>()("murmuration/services/social/Blocks") {
  static readonly layer = Layer.effect(
    Blocks,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const tracked = yield* RowChanges.make
      const isPresent = sql`NOT ${isSuspended(sql, sql`r.target_account_id`)}`

      const blocked = traced("Blocks.page")(function*(account: AccountId, page: Page) {
        if (page.limit === 0) return []
        const { tail, where } = clauses(sql, "r.id", page)
        const rows = yield* listedRows(sql`SELECT r.id AS cursor, r.target_account_id AS account_id FROM blocks r
          WHERE r.account_id = ${account} AND ${where} AND ${isPresent} ${tail}`)
        return newestFirst(page, rows)
      }, Effect.orDie)

      return Blocks.of({
        block: traced("Blocks.block")(function*(account, target) {
          const now = yield* Clock.currentTimeMillis
          const added = yield* tracked("relations", [account, target])(
            idRows(sql`INSERT INTO blocks (id, account_id, target_account_id)
            VALUES (next_id(${now}), ${account}, ${target}) ON CONFLICT DO NOTHING RETURNING id`)
          )
          const between = sql`(account_id = ${account} AND target_account_id = ${target})
            OR (account_id = ${target} AND target_account_id = ${account})`
          yield* tracked("relations", [account, target])(sql`DELETE FROM endorsements WHERE ${between}`)
          // Earlier interactions no longer make either suggest the other.
          yield* sql`INSERT INTO dismissed_suggestions (id, account_id, target_account_id, for_good)
            SELECT next_id(${now}), pair.* , false FROM (VALUES (${account}::bigint, ${target}::bigint), (${target}, ${account})) pair
              (account_id, target_account_id)
            WHERE EXISTS (SELECT FROM users u WHERE u.account_id = pair.account_id)
            ON CONFLICT (account_id, target_account_id) DO UPDATE SET id = excluded.id
              WHERE NOT dismissed_suggestions.for_good`
          yield* sql`DELETE FROM notifications WHERE account_id = ${account} AND from_account_id = ${target}`
          yield* sql`DELETE FROM notifications WHERE account_id = ${target} AND from_account_id = ${account}`
          yield* sql`DELETE FROM notification_requests WHERE (account_id = ${account} AND from_account_id = ${target})
            OR (account_id = ${target} AND from_account_id = ${account})`
          yield* sql`DELETE FROM notification_permissions WHERE account_id = ${account} AND from_account_id = ${target}`
          yield* sql`DELETE FROM account_conversations WHERE account_id = ${account} AND participant_ids @> ARRAY[${target}]::bigint[]`
          return added[0]?.id
        }),
        targetOf: traced("Blocks.targetOf")(function*(account, blockId) {
          const [found] = yield* targetRows(sql`SELECT target_account_id AS account_id FROM blocks
            WHERE id = ${blockId} AND account_id = ${account}`)
          return found?.accountId
        }),
        unblock: traced("Blocks.unblock")(function*(account, target) {
          const removed = yield* tracked("relations", [account, target])(sql`DELETE FROM blocks
            WHERE account_id = ${account} AND target_account_id = ${target} RETURNING id`)
          return removed.length > 0
        }),
        page: blocked
      })
    })
  )
}
