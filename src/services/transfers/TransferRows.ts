import { rowsOf } from "../database/Rows.ts"
import { Transfer } from "./Transfer.ts"

/** Decodes rows of `transfers`. */
export const transferRows = rowsOf(Transfer)

/** Columns of a transfer, for statements without an alias. */
export const transferColumns =
  "id, account_id, kind, state, source, options, cursor, total, processed, added, removed, failed, problem, due_at, " +
  "created_at, started_at, finished_at, expires_at"

/**
 * SQL condition: the transfer has no access to another server. Others are not deleted: `LiveImports.endAbandoned` first
 * revokes their access.
 */
export const hasNoSecrets = "options -> 'secrets' IS NULL"
