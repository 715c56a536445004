import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { boundedCount } from "../database/BoundedCounts.ts"
import { AccountId } from "../database/Ids.ts"
import { clauses, newestFirst, type Page } from "../database/Paging.ts"
import { rowsOf, Timestamptz } from "../database/Rows.ts"
import { traced } from "../runtime/Traced.ts"

const AuditEntry = Schema.Struct({
  id: Schema.BigInt,
  /** Null for the server itself and the command line. */
  accountId: Schema.NullOr(AccountId),
  /** Username at that time; null for the server itself. */
  username: Schema.NullOr(Schema.String),
  action: Schema.String,
  targetType: Schema.String,
  targetId: Schema.NullOr(Schema.BigInt),
  targetLabel: Schema.String,
  before: Schema.Unknown,
  after: Schema.Unknown,
  createdAt: Timestamptz
})
/** A recorded action of staff. */
export type AuditEntry = typeof AuditEntry.Type
const entryRows = rowsOf(AuditEntry)

/** Filter for entries; all given fields must match. */
interface AuditQuery {
  readonly accountId?: bigint | undefined
  readonly action?: string | undefined
  readonly targetType?: string | undefined
  readonly targetId?: bigint | undefined
}

/** Reads the audit log, newest entries first. */
export class AuditEntries extends Context.Service<AuditEntries, {
  readonly list: (query: AuditQuery, page: Page) => Effect.Effect<ReadonlyArray<AuditEntry>>
  /** Number of entries, as counted by `boundedCount`. */
  readonly total: (query: AuditQuery) => Effect.Effect<number>
}>()("murmuration/services/staff/AuditEntries") {
  static readonly layer = Layer.effect(
    AuditEntries,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const matches = ({ accountId, action, targetId, targetType }: AuditQuery) =>
        sql.and([
          sql`TRUE`,
          ...(accountId === undefined ? [] : [sql`account_id = ${accountId}`]),
          ...(action === undefined ? [] : [sql`action = ${action}`]),
          ...(targetType === undefined ? [] : [sql`target_type = ${targetType}`]),
          ...(targetId === undefined ? [] : [sql`target_id = ${targetId}`])
        ])
      return AuditEntries.of({
        list: traced("AuditEntries.list")((query, page) => {
          const { tail, where } = clauses(sql, "id", page)
          return Effect.map(
            entryRows(sql`SELECT id, account_id, username, action, target_type, target_id, target_label, before, after,
                created_at FROM audit_log WHERE ${where} AND ${matches(query)} ${tail}`),
            (rows) => newestFirst(page, rows)
          )
        }, Effect.orDie),
        total: traced("AuditEntries.total")((query) =>
          boundedCount(sql)(sql`SELECT FROM audit_log WHERE ${matches(query)}`)
        )
      })
    })
  )
}
