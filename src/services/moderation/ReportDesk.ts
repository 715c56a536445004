import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import type { AccountId } from "../database/Ids.ts"
import { rowsOf } from "../database/Rows.ts"
import { type NotAllowed, RecordNotFound, type Unprocessable, validationFailed } from "../runtime/Errors.ts"
import { traced } from "../runtime/Traced.ts"
import { AlreadyDone, AuditLog } from "../staff/AuditLog.ts"
import { requirePermission } from "../staff/Rank.ts"
import { ReportResolution } from "./ReportResolution.ts"
import { ReportCategory, reportRulesMax } from "./Reports.ts"

const Desk = Schema.Struct({
  category: ReportCategory,
  ruleIds: Schema.Array(Schema.BigInt),
  assignedAccountId: Schema.NullOr(Schema.BigInt),
  actionTakenByAccountId: Schema.NullOr(Schema.BigInt),
  open: Schema.Boolean
})
const deskRows = rowsOf(Desk)
const serverRows = rowsOf(Schema.Struct({ domain: Schema.String, told: Schema.Boolean, own: Schema.Boolean }))
/** Maximum servers considered for a report. */
const serversMax = 500

type Refused = NotAllowed | RecordNotFound | Unprocessable

/** Work of moderators on reports. Of two concurrent actions the first wins, and the second moderator is told. */
export class ReportDesk extends Context.Service<ReportDesk, {
  readonly update: (
    by: AccountId,
    id: bigint,
    change: { readonly category?: string | undefined; readonly ruleIds?: ReadonlyArray<bigint> | undefined }
  ) => Effect.Effect<void, Refused>
  readonly assign: (by: AccountId, id: bigint) => Effect.Effect<void, Refused>
  readonly unassign: (by: AccountId, id: bigint) => Effect.Effect<void, Refused>
  readonly resolve: (by: AccountId, id: bigint) => Effect.Effect<void, Refused>
  readonly reopen: (by: AccountId, id: bigint) => Effect.Effect<void, Refused>
  /**
   * Records the servers to forward a report to, and returns them: the given ones, by default the account's own. Only
   * servers of the reported account or of authors it replied to count, and only if they were not told before. Runs in
   * the transaction of a command.
   */
  readonly forward: (
    by: AccountId,
    id: bigint,
    domains: ReadonlyArray<string>
  ) => Effect.Effect<ReadonlyArray<string>, Refused | AlreadyDone | SqlError>
}>()("murmuration/services/moderation/ReportDesk") {
  static readonly layer = Layer.effect(
    ReportDesk,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const log = yield* AuditLog
      const resolution = yield* ReportResolution
      const standing = requirePermission(sql)
      const now = Effect.map(Clock.currentTimeMillis, (millis) => new Date(millis))
      const about = (id: bigint) => ({ type: "report" as const, id, label: `#${id}` })

      /** Another moderator was faster. */
      const alreadyDone = (by: AccountId, action: "assign" | "resolve" | "forward", id: bigint, why: string) =>
        new AlreadyDone({ act: { by, action, target: about(id) }, refusal: validationFailed(why) })

      /** Locks a report and runs `work` on it; `inTransaction` makes the transaction. */
      const within = <A, E>(
        name: string,
        work: (
          by: AccountId,
          id: bigint,
          report: typeof Desk.Type
        ) => Effect.Effect<A, Refused | AlreadyDone | SqlError>,
        inTransaction: (work: Effect.Effect<A, Refused | AlreadyDone | SqlError>) => Effect.Effect<A, E>
      ) =>
        traced(`ReportDesk.${name}`)(
          function*(by: AccountId, id: bigint) {
            yield* standing(by, "manageReports")
            const [report] = yield* deskRows(sql`SELECT category, rule_ids, assigned_account_id,
                action_taken_by_account_id, action_taken_at IS NULL AS open FROM reports WHERE id = ${id} FOR UPDATE`)
            return report === undefined ? yield* new RecordNotFound() : yield* work(by, id, report)
          },
          inTransaction
        )
      const on = <A>(
        name: string,
        work: (
          by: AccountId,
          id: bigint,
          report: typeof Desk.Type
        ) => Effect.Effect<A, Refused | AlreadyDone | SqlError>
      ) => within(name, work, log.runLogged)

      const update: ReportDesk["Service"]["update"] = (by, id, { category, ruleIds }) =>
        on(
          "update",
          Effect.fnUntraced(function*(by, id, before) {
            const rules = ruleIds ?? (category === undefined || category === "violation" ? before.ruleIds : [])
            const after = { category: category ?? (rules.length > 0 ? "violation" : before.category), ruleIds: rules }
            if (!isCategory(after.category)) return yield* validationFailed("Category is not included in the list")
            if (after.category !== "violation" && rules.length > 0) {
              return yield* validationFailed("Rule ids must be blank")
            }
            const known = rules.length === 0 ? [] : yield* sql`SELECT FROM rules
            WHERE id = ANY (${rules.slice(0, reportRulesMax)}::bigint[])`
            if (known.length < new Set(rules).size) {
              return yield* validationFailed("Rule ids does not reference valid rules")
            }
            yield* sql`UPDATE reports SET category = ${after.category}, rule_ids = ${rules}::bigint[],
            updated_at = ${yield* now} WHERE id = ${id}`
            const { category: was, ruleIds: named } = before
            yield* log.record({
              by,
              action: "update",
              target: about(id),
              before: { category: was, ruleIds: named },
              after
            })
          })
        )(by, id)

      const assign = on(
        "assign",
        Effect.fnUntraced(function*(by, id, { assignedAccountId }) {
          if (assignedAccountId === by) return
          if (assignedAccountId !== null) return yield* alreadyDone(by, "assign", id, "Report has been taken already")
          yield* sql`UPDATE reports SET assigned_account_id = ${by}, updated_at = ${yield* now} WHERE id = ${id}`
          yield* log.record({ by, action: "assign", target: about(id) })
        })
      )

      const unassign = on(
        "unassign",
        Effect.fnUntraced(function*(by, id, { assignedAccountId }) {
          if (assignedAccountId === null) return
          yield* sql`UPDATE reports SET assigned_account_id = NULL, updated_at = ${yield* now} WHERE id = ${id}`
          yield* log.record({ by, action: "unassign", target: about(id), before: { assignedAccountId } })
        })
      )

      const resolve = on(
        "resolve",
        Effect.fnUntraced(function*(by, id, { actionTakenByAccountId, open }) {
          if (open) yield* resolution.resolve(id, by)
          else if (actionTakenByAccountId !== by) {
            return yield* alreadyDone(by, "resolve", id, "Report has been resolved already")
          }
        })
      )

      const reopen = on(
        "reopen",
        Effect.fnUntraced(function*(by, id, { open }) {
          if (open) return
          yield* sql`UPDATE reports SET action_taken_at = NULL, action_taken_by_account_id = NULL, updated_at = ${yield* now}
          WHERE id = ${id}`
          yield* log.record({ by, action: "reopen", target: about(id) })
        })
      )

      const forward: ReportDesk["Service"]["forward"] = (by, id, given) =>
        within(
          "forward",
          Effect.fnUntraced(function*(by, id) {
            const servers = yield* serverRows(sql`SELECT DISTINCT t.domain, t.domain = ANY (r.forward_domains) AS told,
                t.id = r.target_account_id AS own
              FROM reports r JOIN accounts t ON t.id = r.target_account_id OR t.id IN (
                SELECT s.in_reply_to_account_id FROM statuses s WHERE s.id = ANY (r.status_ids))
              WHERE r.id = ${id} AND t.domain IS NOT NULL AND t.uri IS NOT NULL LIMIT ${serversMax}`)
            const requestedDomains = new Set(given.map((domain) => domain.trim().toLowerCase()))
            const named = servers.filter(({ domain, own }) =>
              given.length === 0 ? own : requestedDomains.has(domain.toLowerCase())
            )
            if (named.length === 0) return yield* validationFailed("Forward to domains is invalid")
            const domains = [...new Set(named.flatMap(({ domain, told }) => told ? [] : [domain]))]
            if (domains.length === 0) {
              return yield* alreadyDone(by, "forward", id, "Forward to domains has already been taken")
            }
            yield* sql`UPDATE reports SET forward_domains = forward_domains || ${domains}::text[], updated_at = ${yield* now}
              WHERE id = ${id}`
            yield* log.record({ by, action: "forward", target: about(id), after: { domains } })
            return domains
          }),
          // The command brings its transaction.
          (work) => work
        )(by, id)

      return ReportDesk.of({ update, assign, unassign, resolve, reopen, forward })
    })
  ).pipe(Layer.provide([AuditLog.layer, ReportResolution.layer]))
}

const isCategory = Schema.is(ReportCategory)
