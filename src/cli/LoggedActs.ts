import { Effect } from "effect"
import type { AccountId } from "../services/database/Ids.ts"
import type { AuditAction } from "../services/staff/AuditActions.ts"
import { AuditLog } from "../services/staff/AuditLog.ts"

/** Records what the command line does to an account in the audit log, like acts of staff. */
export const logActs = (accountId: AccountId, name: string, acts: ReadonlyArray<AuditAction<"account">>) =>
  Effect.flatMap(AuditLog, (log) =>
    Effect.forEach(
      acts,
      (action) => log.record({ by: undefined, action, target: { type: "account", id: accountId, label: name } }),
      { discard: true }
    )).pipe(Effect.provide(AuditLog.layer))
