import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import type { AccountId } from "../Ids.ts"
import { accountIdRows, rowsOf } from "../Rows.ts"
import { traced } from "../Traced.ts"

/**
 * What can be due, by its subject: a scheduled status, the end of a mute (the mute's id) or of a poll (its status' id), that
 * other servers hear of a poll's votes, what an account that is gone left behind (the account's id), or what follows from a
 * user's block of a domain (the block's id).
 */
const DueKind = Schema.Literals(["scheduled_status", "mute_end", "poll_end", "poll_update", "purge", "domain_block"])
type DueKind = typeof DueKind.Type

export const Due = Schema.Struct({ kind: DueKind, subjectId: Schema.BigInt })
export type Due = typeof Due.Type
const dueRows = rowsOf(Due)

/** Work that is due at a time. The owner of an entry does it and completes it in one transaction. */
export class AgendaEntries extends Context.Service<AgendaEntries, {
  /** Enters something, or moves it, in the running transaction; `dueAt` in milliseconds since 1970. */
  readonly enqueue: (
    kind: DueKind,
    subjectId: bigint,
    accountId: AccountId,
    dueAt: number
  ) => Effect.Effect<void, SqlError>
  /** The same, and leaves it where it is when it is there. */
  readonly enqueueOnce: (
    kind: DueKind,
    subjectId: bigint,
    accountId: AccountId,
    dueAt: number
  ) => Effect.Effect<void, SqlError>
  /** Is done, in the running transaction of its owner. */
  readonly complete: (kind: DueKind, subjectId: bigint) => Effect.Effect<void, SqlError>
  /** Its subject is not there any more, or has no end. */
  readonly cancel: (kind: DueKind, subjectId: bigint) => Effect.Effect<void, SqlError>
  /** An account's entries that are due now, the oldest first. */
  readonly claim: (accountId: AccountId) => Effect.Effect<ReadonlyArray<Due>, SqlError>
  /** Accounts for which something is due. */
  readonly due: (accountsMax: number) => Effect.Effect<ReadonlyArray<AccountId>, SqlError>
}>()("murmuration/services/intents/AgendaEntries") {
  static readonly layer = Layer.effect(
    AgendaEntries,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const now = Effect.map(Clock.currentTimeMillis, (millis) => new Date(millis))
      const remove = (kind: DueKind, subjectId: bigint) =>
        Effect.asVoid(sql`DELETE FROM agenda WHERE kind = ${kind} AND subject_id = ${subjectId}`)
      return AgendaEntries.of({
        enqueue: traced("AgendaEntries.enqueue")((kind, subjectId, accountId, dueAt) =>
          Effect.asVoid(sql`INSERT INTO agenda (kind, subject_id, account_id, due_at)
            VALUES (${kind}, ${subjectId}, ${accountId}, ${new Date(dueAt)})
            ON CONFLICT (kind, subject_id) DO UPDATE SET due_at = EXCLUDED.due_at`)
        ),
        enqueueOnce: traced("AgendaEntries.enqueueOnce")((kind, subjectId, accountId, dueAt) =>
          Effect.asVoid(sql`INSERT INTO agenda (kind, subject_id, account_id, due_at)
            VALUES (${kind}, ${subjectId}, ${accountId}, ${new Date(dueAt)}) ON CONFLICT (kind, subject_id) DO NOTHING`)
        ),
        complete: traced("AgendaEntries.complete")(remove),
        cancel: traced("AgendaEntries.cancel")(remove),
        claim: traced("AgendaEntries.claim")(function*(accountId) {
          return yield* dueRows(sql`SELECT kind, subject_id FROM agenda
            WHERE account_id = ${accountId} AND due_at <= ${yield* now} ORDER BY due_at LIMIT 100`)
        }),
        due: traced("AgendaEntries.due")(function*(accountsMax) {
          const rows = yield* accountIdRows(sql`
            SELECT account_id FROM agenda WHERE due_at <= ${yield* now} GROUP BY account_id
            ORDER BY min(due_at) LIMIT ${accountsMax}`)
          return rows.map(({ accountId }) => accountId)
        })
      })
    })
  )
}
