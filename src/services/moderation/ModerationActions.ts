import { Clock, Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import type { AccountId } from "../Ids.ts"
import { AgendaEntries } from "../intents/AgendaEntries.ts"
import { traced } from "../Traced.ts"

/** Measures against accounts (S-022), by the column with their start. */
const columns = { suspend: "suspended_at", silence: "silenced_at", sensitize: "sensitized_at" } as const
export type ModerationAction = keyof typeof columns

/** Time in which a suspension can be reverted without loss of data, in milliseconds (S-277). */
const suspensionMillis = 30 * 86_400_000

/** Sets and lifts measures against accounts, always in the transaction of a command. */
export class ModerationActions extends Context.Service<ModerationActions, {
  /** Returns true if something changed; a measure that is in force keeps its start. */
  readonly set: (accountId: AccountId, action: ModerationAction, stands: boolean) => Effect.Effect<boolean, SqlError>
}>()("murmuration/services/moderation/ModerationActions") {
  static readonly layer = Layer.effect(
    ModerationActions,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const agenda = yield* AgendaEntries
      return ModerationActions.of({
        set: traced("ModerationActions.set")(function*(accountId, action, stands) {
          const column = sql(columns[action])
          if (action === "suspend" && stands) {
            // Only moderators can lift it after this, even if the account's own server lifts its suspension (S-014).
            yield* sql`UPDATE remote_actors SET suspended_by_origin = false
              WHERE account_id = ${accountId} AND suspended_by_origin`
          }
          if (stands && action !== "sensitize") {
            // A measure by moderators outlasts a block of the account's domain.
            const byDomain = sql(`${action === "suspend" ? "suspended" : "silenced"}ByDomain`)
            yield* sql`UPDATE accounts SET ${byDomain} = false WHERE id = ${accountId} AND ${byDomain}`
          }
          const since = stands ? new Date(yield* Clock.currentTimeMillis) : null
          const rows = yield* sql`UPDATE accounts SET ${column} = ${since}
            WHERE id = ${accountId} AND (${column} IS NULL) = ${stands} AND NOT (${action === "suspend"} AND EXISTS (
              SELECT FROM remote_actors o WHERE o.account_id = accounts.id AND o.suspended_by_origin)) RETURNING id`
          if (action === "suspend" && rows.length > 0) {
            yield* stands
              ? agenda.enqueue("suspension_end", accountId, accountId, (since?.getTime() ?? 0) + suspensionMillis)
              : agenda.cancel("suspension_end", accountId)
          }
          return rows.length > 0
        })
      })
    })
  )
}
