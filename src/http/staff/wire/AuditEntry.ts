import { Schema } from "effect"
import type { AuditEntry as Entry } from "../../../services/staff/AuditEntries.ts"
import { Id, id, idOrNull, Timestamp, timestamp } from "../../wire/Common.ts"
import { Cursor, pageFields, pageKeys } from "../../wire/PageQuery.ts"

/**
 * An action of staff; without an account, of the server or the command line. `before` and `after` have the changed
 * values.
 */
export const AuditEntry = Schema.Struct({
  id: Id,
  action: Schema.String,
  account_id: Schema.NullOr(Id),
  username: Schema.NullOr(Schema.String),
  target_type: Schema.String,
  target_id: Schema.NullOr(Id),
  target_label: Schema.String,
  before: Schema.Unknown,
  after: Schema.Unknown,
  created_at: Timestamp
}).annotate({ identifier: "Admin::AuditEntry" })
export type AuditEntry = typeof AuditEntry.Type

/** Renders an entry; `before` and `after` use the program's names, which are not converted. */
export const auditEntry = (entry: Entry): AuditEntry => ({
  id: id(entry.id),
  action: entry.action,
  account_id: idOrNull(entry.accountId),
  username: entry.username,
  target_type: entry.targetType,
  target_id: idOrNull(entry.targetId),
  target_label: entry.targetLabel,
  before: entry.before,
  after: entry.after,
  created_at: timestamp(entry.createdAt)
})

/** Columns of the log's CSV file. */
export const auditColumns = [
  "id",
  "created_at",
  "account_id",
  "username",
  "action",
  "target_type",
  "target_id",
  "target_label",
  "before",
  "after"
] as const

/** Returns the cells of a line. */
export const auditCells = (entry: Entry): ReadonlyArray<string> => {
  const shown = auditEntry(entry)
  return auditColumns.map((name) => {
    const value = shown[name]
    return value === null ? "" : typeof value === "string" ? value : JSON.stringify(value)
  })
}

const text = Schema.optionalKey(Schema.String)

/** `GET /api/v1/admin/audit_log` */
export const AuditLogQuery = Schema.Struct({
  ...pageFields,
  accountId: Schema.optionalKey(Cursor),
  action: text,
  targetType: text,
  targetId: Schema.optionalKey(Cursor)
}).pipe(Schema.encodeKeys({
  ...pageKeys,
  accountId: "account_id",
  targetType: "target_type",
  targetId: "target_id"
}))
export type AuditLogQuery = typeof AuditLogQuery.Type

/** Parameters that links to further pages keep. */
export const auditLogFilters = ["account_id", "action", "target_type", "target_id"]
