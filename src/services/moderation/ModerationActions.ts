import { Clock, Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import type { AccountId } from "../database/Ids.ts"
import * as RowChanges from "../events/RowChanges.ts"
import { applyTo } from "../federation/domains/DomainAccounts.ts"
import { DomainPolicies } from "../federation/domains/DomainPolicies.ts"
import { AgendaEntries } from "../intents/AgendaEntries.ts"
import { traced } from "../runtime/Traced.ts"

/** Measures against accounts (S-022), by the column with their start. */
const columns = { suspend: "suspended_at", silence: "silenced_at", sensitize: "sensitized_at" } as const
export type ModerationAction = keyof typeof columns

/** Columns that mark a measure as caused only by a domain block. */
const domainColumns = { suspend: "suspended_by_domain", silence: "silenced_by_domain", sensitize: undefined } as const

/** Time in which a suspension can be reverted without loss of data, in milliseconds (S-277). */
export const suspensionMillis = 30 * 86_400_000

/** SQL condition: the account's own server suspended it. */
const byOrigin = "EXISTS (SELECT FROM remote_actors o WHERE o.account_id = accounts.id AND o.suspended_by_origin)"

/**
 * Sets and lifts measures of this server's moderators, operator and spam rules, always in the transaction of a command.
 * A restriction by the account's own server or by a domain block becomes a local one when the same measure is set here.
 */
export class ModerationActions extends Context.Service<ModerationActions, {
  /**
   * Returns true if something changed, which includes taking over a restriction; a local measure that is in force keeps
   * its start. Lifting leaves restrictions by others in place: afterwards the rules about the account's domain apply
   * again.
   */
  readonly set: (accountId: AccountId, action: ModerationAction, inForce: boolean) => Effect.Effect<boolean, SqlError>
}>()("murmuration/services/moderation/ModerationActions") {
  static readonly layer = Layer.effect(
    ModerationActions,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const tracked = yield* RowChanges.make
      const agenda = yield* AgendaEntries
      const policies = yield* DomainPolicies

      const impose = Effect.fnUntraced(function*(accountId: AccountId, action: ModerationAction, now: number) {
        const [column, byDomain] = [sql(columns[action]), domainColumns[action]]
        const others = byDomain === undefined ? sql`false` : sql(byDomain)
        const rows = yield* tracked("account", [accountId])(
          tracked("moderation", [accountId])(sql`UPDATE accounts SET ${column} = ${new Date(now)}
            ${byDomain === undefined ? sql`` : sql`, ${others} = false`}
          WHERE id = ${accountId}
            AND (${column} IS NULL OR ${others} OR (${action === "suspend"} AND ${
            sql.literal(byOrigin)
          })) RETURNING id`)
        )
        if (action !== "suspend" || rows.length === 0) return rows.length > 0
        // After this only moderators can lift it, even if the account's own server lifts its suspension (S-014).
        yield* sql`UPDATE remote_actors SET suspended_by_origin = false
          WHERE account_id = ${accountId} AND suspended_by_origin`
        yield* agenda.enqueue("suspension_end", accountId, accountId, now + suspensionMillis)
        return true
      })

      const lift = Effect.fnUntraced(function*(accountId: AccountId, action: ModerationAction, now: number) {
        const [column, byDomain] = [sql(columns[action]), domainColumns[action]]
        const rows = yield* tracked("account", [accountId])(
          tracked("moderation", [accountId])(
            sql`UPDATE accounts SET ${column} = NULL WHERE id = ${accountId} AND ${column} IS NOT NULL
          AND NOT ${byDomain === undefined ? sql`false` : sql(byDomain)}
          AND NOT (${action === "suspend"} AND ${sql.literal(byOrigin)}) RETURNING id`
          )
        )
        if (rows.length === 0) return false
        if (action === "suspend") yield* agenda.cancel("suspension_end", accountId)
        if (byDomain !== undefined) yield* applyTo({ sql, tracked }, yield* policies.current, accountId, new Date(now))
        return true
      })

      return ModerationActions.of({
        set: traced("ModerationActions.set")(function*(accountId, action, inForce) {
          const now = yield* Clock.currentTimeMillis
          return yield* (inForce ? impose : lift)(accountId, action, now)
        })
      })
    })
  ).pipe(Layer.provide(DomainPolicies.layer))
}
