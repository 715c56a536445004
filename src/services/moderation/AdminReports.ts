import { Array as Arr, Context, Effect, Layer, Schema, Struct } from "effect"
import { SqlClient } from "effect/sql"
import { boundedCount } from "../database/BoundedCounts.ts"
import { clauses, newestFirst, type Page } from "../database/Paging.ts"
import { rowsOf, Timestamptz } from "../database/Rows.ts"
import { RecordNotFound } from "../runtime/Errors.ts"
import { traced } from "../runtime/Traced.ts"
import { ReportRecord } from "./Reports.ts"

/** A rule with the text that it had when it was reported, even if it was deleted later. */
const NamedRule = Schema.Struct({
  id: Schema.BigInt,
  text: Schema.String,
  hint: Schema.String,
  translations: Schema.Record(Schema.String, Schema.Struct({ text: Schema.String, hint: Schema.String }))
})
type NamedRule = typeof NamedRule.Type
const ruleRows = rowsOf(NamedRule)

const AdminReport = Schema.Struct({
  ...ReportRecord.fields,
  /** Reporter; for a report by the server itself, the reported account. */
  accountId: Schema.BigInt,
  assignedAccountId: Schema.NullOr(Schema.BigInt),
  actionTakenByAccountId: Schema.NullOr(Schema.BigInt),
  updatedAt: Timestamptz
})
/** A report as moderators see it. */
export type AdminReport = typeof AdminReport.Type
const reportRows = rowsOf(AdminReport)
const columns = Struct.keys(AdminReport.fields)

/** Filter for reports by state, accounts and domain. */
interface ReportSelection {
  readonly state: "open" | "resolved" | "all"
  readonly accountId?: bigint | undefined
  readonly targetAccountId?: bigint | undefined
  readonly targetDomain?: string | undefined
}

/** Reads reports for moderators (S-234). */
export class AdminReports extends Context.Service<AdminReports, {
  readonly page: (selection: ReportSelection, page: Page) => Effect.Effect<ReadonlyArray<AdminReport>>
  /** Number of reports, as counted by `boundedCount`. */
  readonly total: (selection: ReportSelection) => Effect.Effect<number>
  readonly find: (id: bigint) => Effect.Effect<AdminReport, RecordNotFound>
  /** Loads rules by id, including deleted ones; an empty list runs no query. */
  readonly rules: (ids: ReadonlyArray<bigint>) => Effect.Effect<ReadonlyMap<bigint, NamedRule>>
}>()("murmuration/services/moderation/AdminReports") {
  static readonly layer = Layer.effect(
    AdminReports,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const selected = sql.literal(
        columns.map((name) =>
          name === "updatedAt"
            ? "coalesce(r.updated_at, r.created_at) AS updated_at"
            // Reports by the server have no reporter, but clients expect an account.
            : name === "accountId"
            ? "coalesce(r.account_id, r.target_account_id) AS account_id"
            : `r.${name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)}`
        ).join(", ")
      )

      const matches = ({ accountId, state, targetAccountId, targetDomain }: ReportSelection) =>
        sql.and([
          sql`TRUE`,
          ...(state === "all"
            ? []
            : [sql`r.action_taken_at IS ${sql.literal(state === "open" ? "NULL" : "NOT NULL")}`]),
          ...(accountId === undefined ? [] : [sql`r.account_id = ${accountId}`]),
          ...(targetAccountId === undefined ? [] : [sql`r.target_account_id = ${targetAccountId}`]),
          ...(targetDomain === undefined ? [] : [sql`EXISTS (SELECT FROM accounts a WHERE a.id = r.target_account_id
            AND a.domain IS NOT NULL
            AND (domain_key(a.domain) COLLATE "C") = (domain_key(${targetDomain.trim()}) COLLATE "C"))`])
        ])

      const page = traced("AdminReports.page")(function*(selection: ReportSelection, page: Page) {
        if (page.limit === 0) return []
        const { tail, where } = clauses(sql, "r.id", page)
        const rows = yield* reportRows(
          sql`SELECT ${selected} FROM reports r WHERE ${where} AND ${matches(selection)} ${tail}`
        )
        return newestFirst(page, rows)
      }, Effect.orDie)

      const find = traced("AdminReports.find")(function*(id: bigint) {
        const [report] = yield* Effect.orDie(reportRows(sql`SELECT ${selected} FROM reports r WHERE r.id = ${id}`))
        return report ?? (yield* new RecordNotFound())
      })

      return AdminReports.of({
        page,
        total: traced("AdminReports.total")((selection) =>
          boundedCount(sql)(sql`SELECT FROM reports r WHERE ${matches(selection)}`)
        ),
        find,
        rules: traced("AdminReports.rules")(function*(ids) {
          if (ids.length === 0) return new Map<bigint, NamedRule>()
          const rows = yield* ruleRows(sql`SELECT id, text, hint, translations FROM rules
            WHERE id = ANY (${Arr.dedupe(ids)}::bigint[])`)
          return new Map(rows.map((rule) => [rule.id, rule]))
        }, Effect.orDie)
      })
    })
  )
}
