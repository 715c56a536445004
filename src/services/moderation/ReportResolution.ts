import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import type { Fragment } from "effect/sql/Statement"
import type { AccountId } from "../database/Ids.ts"
import { idRows, rowsOf } from "../database/Rows.ts"
import { RecordNotFound, validationFailed } from "../runtime/Errors.ts"
import { traced } from "../runtime/Traced.ts"
import { AlreadyDone, AuditLog } from "../staff/AuditLog.ts"

const openRows = rowsOf(Schema.Struct({ open: Schema.Boolean }))

/**
 * Resolves reports, in the transaction of the action that resolves them. Each is resolved once, by the first moderator.
 */
export class ReportResolution extends Context.Service<ReportResolution, {
  /** Refuses an action if its report is about another account, or is resolved already. */
  readonly requireOpen: (
    reportId: bigint,
    target: AccountId,
    act: AlreadyDone["act"]
  ) => Effect.Effect<void, AlreadyDone | RecordNotFound | SqlError>
  /** Resolves all open reports about an account (S-023). */
  readonly resolveAll: (target: AccountId, by: AccountId) => Effect.Effect<void, SqlError>
  /** Resolves a report; returns true if it was open. */
  readonly resolve: (reportId: bigint, by: AccountId) => Effect.Effect<boolean, SqlError>
}>()("murmuration/services/moderation/ReportResolution") {
  static readonly layer = Layer.effect(
    ReportResolution,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const log = yield* AuditLog

      const end = Effect.fnUntraced(function*(which: Fragment, by: AccountId) {
        const at = new Date(yield* Clock.currentTimeMillis)
        const ended = yield* idRows(sql`UPDATE reports SET action_taken_at = ${at}, updated_at = ${at},
            action_taken_by_account_id = ${by} WHERE id IN (
          SELECT id FROM reports WHERE action_taken_at IS NULL AND ${which} ORDER BY id FOR UPDATE)
            AND action_taken_at IS NULL RETURNING id`)
        for (const { id } of ended) {
          yield* log.record({ by, action: "resolve", target: { type: "report", id, label: `#${id}` } })
        }
        return ended.length > 0
      })

      return ReportResolution.of({
        requireOpen: traced("ReportResolution.requireOpen")(function*(reportId, target, act) {
          const [found] = yield* openRows(sql`SELECT action_taken_at IS NULL AS open FROM reports
            WHERE id = ${reportId} AND target_account_id = ${target} FOR UPDATE`)
          if (found === undefined) return yield* new RecordNotFound()
          if (!found.open) {
            return yield* new AlreadyDone({ act, refusal: validationFailed("Report has been resolved already") })
          }
        }),
        resolveAll: traced("ReportResolution.resolveAll")((target, by) =>
          Effect.asVoid(end(sql`target_account_id = ${target}`, by))
        ),
        resolve: traced("ReportResolution.resolve")((reportId, by) => end(sql`id = ${reportId}`, by))
      })
    })
  ).pipe(Layer.provide(AuditLog.layer))
}
