import { Effect } from "effect"
import type { Page } from "../../../services/database/Paging.ts"
import type { AuditEntries } from "../../../services/staff/AuditEntries.ts"
import { csvLine, withoutFormulas } from "../../../services/text/Csv.ts"
import { auditCells, auditColumns } from "../wire/AuditEntry.ts"

/** Maximum entries in a file. */
const fileRowsMax = 10_000

/** Renders the audit log as CSV. */
export const auditFile = (
  entries: AuditEntries["Service"],
  query: Parameters<AuditEntries["Service"]["list"]>[0],
  page: Omit<Page, "limit">
) =>
  Effect.map(
    entries.list(query, { ...page, limit: fileRowsMax }),
    (rows) => [csvLine(auditColumns), ...rows.map((row) => csvLine(withoutFormulas(auditCells(row))))].join("")
  )
