import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { isSqlError } from "effect/sql/SqlError"
import type { AccountId } from "../database/Ids.ts"
import { IdFromString } from "../database/Ids.ts"
import { rowsOf, singleRow, Timestamptz } from "../database/Rows.ts"
import { transaction } from "../database/Transactions.ts"
import { type NotAllowed, RecordNotFound, type Unprocessable, validationFailed } from "../runtime/Errors.ts"
import { traced } from "../runtime/Traced.ts"
import { AuditLog } from "../staff/AuditLog.ts"
import { requirePermission } from "../staff/Rank.ts"

/** Maximum days that a dry run covers, maximum stored runs, and maximum pending runs. */
export const runDaysMax = 14
const runsKeptMax = 20
const waitingMax = 3

/** Matches of a rule in a dry run; samples are public posts only. */
export const RuleResult = Schema.Struct({
  ruleId: IdFromString,
  name: Schema.String,
  statuses: Schema.Int,
  accounts: Schema.Int,
  samples: Schema.Array(IdFromString)
})
export type RuleResult = typeof RuleResult.Type
const Results = Schema.toCodecJson(Schema.Array(RuleResult))

const SpamRun = Schema.Struct({
  id: Schema.BigInt,
  days: Schema.Int,
  /** `failed` if all attempts were interrupted. */
  state: Schema.Literals(["waiting", "done", "failed"]),
  /** Posts processed so far. */
  statuses: Schema.Int,
  results: Results,
  createdAt: Timestamptz,
  finishedAt: Schema.NullOr(Timestamptz)
})
export type SpamRun = typeof SpamRun.Type
const runRows = rowsOf(SpamRun)

/** Dry runs of the chain over recent posts: started by staff, executed by any node. */
export class SpamRuns extends Context.Service<SpamRuns, {
  readonly start: (by: AccountId, days: number) => Effect.Effect<SpamRun, NotAllowed | Unprocessable>
  /** Runs, newest first. */
  readonly list: Effect.Effect<ReadonlyArray<SpamRun>>
  readonly find: (id: bigint) => Effect.Effect<SpamRun, RecordNotFound>
}>()("murmuration/services/spam/SpamRuns") {
  static readonly layer = Layer.effect(
    SpamRuns,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const audit = yield* AuditLog
      const standing = requirePermission(sql)
      const columns = sql.literal("id, days, state, statuses, results, created_at, finished_at")
      const newest = runRows(sql`SELECT ${columns} FROM spam_runs ORDER BY id DESC LIMIT ${runsKeptMax}`)

      return SpamRuns.of({
        start: traced("SpamRuns.start")((by, days) =>
          Effect.gen(function*() {
            yield* standing(by, "manageRules")
            if (days < 1 || days > runDaysMax) {
              return yield* validationFailed("Days is not included in the list")
            }
            yield* sql`LOCK TABLE spam_runs IN SHARE ROW EXCLUSIVE MODE`
            const waiting = (yield* newest).filter(({ state }) => state === "waiting")
            if (waiting.length >= waitingMax) {
              return yield* validationFailed(`Dry runs are too many (maximum is ${waitingMax})`)
            }
            const now = yield* Clock.currentTimeMillis
            const at = new Date(now)
            const run = singleRow(
              yield* runRows(sql`INSERT INTO spam_runs (id, account_id, days, state, statuses, results, due_at, tries,
                  created_at)
                VALUES (next_id(${now}), ${by}, ${days}, 'waiting', 0, '[]', ${at}, 0, ${at}) RETURNING ${columns}`)
            )
            yield* sql`DELETE FROM spam_runs WHERE id < (SELECT min(id) FROM (
              SELECT id FROM spam_runs ORDER BY id DESC LIMIT ${runsKeptMax}) kept)`
            yield* audit.record({
              by,
              action: "dry_run",
              target: { type: "spamRule", label: `${days} days` },
              after: { run: run.id, days }
            })
            return run
          }).pipe(transaction(sql), Effect.catchIf(isSqlError, Effect.die))
        ),
        list: Effect.orDie(newest),
        find: traced("SpamRuns.find")(function*(id) {
          const [run] = yield* Effect.orDie(runRows(sql`SELECT ${columns} FROM spam_runs WHERE id = ${id}`))
          return run ?? (yield* new RecordNotFound())
        })
      })
    })
  ).pipe(Layer.provide(AuditLog.layer))
}
