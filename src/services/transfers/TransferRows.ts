import { rowsOf } from "../database/Rows.ts"
import { Transfer } from "./Transfer.ts"

/** Decodes rows of `transfers`. */
export const transferRows = rowsOf(Transfer)

/** Columns of a transfer, for statements without an alias. */
export const transferColumns =
  "id, account_id, kind, state, source, options, cursor, total, processed, added, removed, failed, problem, due_at, " +
  "created_at, started_at, finished_at, expires_at"

/** SQL for the options of a final transfer: it needs no access to another server. */
export const withoutSecrets = "options - 'secrets'"
