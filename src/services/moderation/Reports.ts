import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import type { AccountId } from "../database/Ids.ts"
import { idRows, rowsOf, singleRow, Timestamptz } from "../database/Rows.ts"
import { exceeds } from "../html/Text.ts"
import { RecordNotFound, type Unprocessable, validationFailed } from "../runtime/Errors.ts"
import { traced } from "../runtime/Traced.ts"
import { visibleTo } from "../statuses/Visibility.ts"
import { blocks, blocksDomain } from "../visibility/HiddenAccounts.ts"

/** Maximum characters of a comment, and maximum statuses, rules and collections of a report. */
const reportCommentCharactersMax = 1_000
export const reportStatusesMax = 400
export const reportRulesMax = 100
export const reportCollectionsMax = 100

/** Categories of S-095. */
export const ReportCategory = Schema.Literals(["spam", "legal", "violation", "other"])
type ReportCategory = typeof ReportCategory.Type

/** A new report. Naming rules makes its category `violation`. */
interface NewReport {
  readonly target: AccountId
  readonly category: ReportCategory
  readonly comment: string
  readonly statusIds: ReadonlyArray<bigint>
  readonly ruleIds: ReadonlyArray<bigint>
  readonly collectionIds?: ReadonlyArray<bigint>
  /** If true, forwards to the remote account's server, or to `forwardDomains`. */
  readonly forward: boolean
  readonly forwardDomains: ReadonlyArray<string>
}

export const ReportRecord = Schema.Struct({
  id: Schema.BigInt,
  targetAccountId: Schema.BigInt,
  category: ReportCategory,
  comment: Schema.String,
  statusIds: Schema.Array(Schema.BigInt),
  ruleIds: Schema.Array(Schema.BigInt),
  collectionIds: Schema.Array(Schema.BigInt),
  forwardDomains: Schema.Array(Schema.String),
  createdAt: Timestamptz,
  actionTakenAt: Schema.NullOr(Timestamptz)
})
export type ReportRecord = typeof ReportRecord.Type
const reportRecordRows = rowsOf(ReportRecord)

const domainRows = rowsOf(Schema.Struct({ domain: Schema.NullOr(Schema.String) }))

/** Reports to the moderators of this server (S-163). */
export class Reports extends Context.Service<Reports, {
  /**
   * Files a report in the current transaction and returns its id. Fails with `RecordNotFound` if the account does not
   * exist, or if a status or collection is not the account's, or if the reporter never could read it (row 56). Deleted
   * statuses can be reported.
   */
  readonly file: (
    reporter: AccountId,
    report: NewReport
  ) => Effect.Effect<bigint, RecordNotFound | Unprocessable | SqlError>
  /** Loads existing reports by id, for moderators. */
  readonly load: (ids: ReadonlyArray<bigint>) => Effect.Effect<ReadonlyArray<ReportRecord>>
  readonly find: (reporter: AccountId, id: bigint) => Effect.Effect<ReportRecord, RecordNotFound>
}>()("murmuration/services/moderation/Reports") {
  static readonly layer = Layer.effect(
    Reports,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient

      const checkStatuses = Effect.fnUntraced(
        function*(reporter: AccountId, target: AccountId, ids: ReadonlyArray<bigint>) {
          if (ids.length === 0) return
          const rows = yield* sql`SELECT s.id FROM statuses s WHERE s.id = ANY (${ids}::bigint[])
          AND s.account_id = ${target} AND ${visibleTo(sql, reporter, "s", { author: target, deletedToo: true })}`
          if (rows.length < ids.length) return yield* new RecordNotFound()
        }
      )

      /**
       * Checks that the reporter may see the account's collections: the owner blocks neither the reporter nor their
       * domain. The lock makes a concurrent deletion wait for the report, so that the collection is kept.
       */
      const checkCollections = Effect.fnUntraced(
        function*(reporter: AccountId, target: AccountId, ids: ReadonlyArray<bigint>) {
          if (ids.length === 0) return
          const [owner, viewer] = [sql`c.account_id`, sql`${reporter}::bigint`]
          const rows = yield* idRows(sql`SELECT c.id FROM collections c WHERE c.id = ANY (${ids}::bigint[])
            AND c.account_id = ${target} AND NOT ${blocks(sql, owner, viewer)} AND NOT ${
            blocksDomain(sql, owner, viewer)
          } FOR KEY SHARE`)
          if (rows.length < ids.length) return yield* new RecordNotFound()
        }
      )

      const file = traced("Reports.file")(function*(reporter: AccountId, report: NewReport) {
        const [statusIds, ruleIds] = [[...new Set(report.statusIds)], [...new Set(report.ruleIds)]]
        const collectionIds = [...new Set(report.collectionIds)]
        if (exceeds(report.comment, reportCommentCharactersMax)) {
          return yield* validationFailed(`Comment is too long (maximum is ${reportCommentCharactersMax} characters)`)
        }
        if (statusIds.length > reportStatusesMax) {
          return yield* validationFailed(`Status ids are too many (maximum is ${reportStatusesMax})`)
        }
        if (collectionIds.length > reportCollectionsMax) {
          return yield* validationFailed(`Collection ids are too many (maximum is ${reportCollectionsMax})`)
        }
        const [account] = yield* domainRows(sql`SELECT domain FROM accounts
          WHERE id = ${report.target} AND suspended_at IS NULL`)
        if (account === undefined) return yield* new RecordNotFound()
        yield* checkStatuses(reporter, report.target, statusIds)
        yield* checkCollections(reporter, report.target, collectionIds)
        const rules = ruleIds.length === 0 ? [] : yield* sql`SELECT id FROM rules
          WHERE id = ANY (${ruleIds.slice(0, reportRulesMax)}::bigint[]) AND deleted_at IS NULL`
        if (rules.length < ruleIds.length) return yield* validationFailed("Rule ids does not reference valid rules")
        const domains = !report.forward || account.domain === null
          ? []
          : report.forwardDomains.length === 0
          ? [account.domain]
          : report.forwardDomains
        const now = yield* Clock.currentTimeMillis
        const { id } = singleRow(
          yield* idRows(sql`INSERT INTO reports (id, account_id, target_account_id, category, comment, status_ids,
              rule_ids, collection_ids, forward_domains, created_at)
            VALUES (next_id(${now}), ${reporter}, ${report.target}, ${
            ruleIds.length > 0 ? "violation" : report.category
          },
              ${report.comment}, ${statusIds}::bigint[], ${ruleIds}::bigint[],
              ${collectionIds}::bigint[], ${domains}::text[], ${new Date(now)})
            RETURNING id`)
        )
        return id
      })

      const columns = sql.literal(
        `id, target_account_id, category, comment, status_ids, rule_ids, collection_ids, forward_domains,
        created_at, action_taken_at`
      )
      const load = traced("Reports.load")(
        (ids: ReadonlyArray<bigint>) =>
          reportRecordRows(sql`SELECT ${columns} FROM reports WHERE id = ANY (${ids}::bigint[])`),
        Effect.orDie
      )

      const find = traced("Reports.find")(function*(reporter: AccountId, id: bigint) {
        const [row] = yield* reportRecordRows(sql`SELECT ${columns} FROM reports
          WHERE id = ${id} AND account_id = ${reporter}`).pipe(Effect.orDie)
        return row ?? (yield* new RecordNotFound())
      })
      return Reports.of({ file, load, find })
    })
  )
}
