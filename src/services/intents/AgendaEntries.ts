import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import type { AccountId } from "../database/Ids.ts"
import { accountIdRows, rowsOf, singleRow } from "../database/Rows.ts"
import * as Backoff from "../runtime/Backoff.ts"
import { traced } from "../runtime/Traced.ts"

/**
 * Kinds of due work and the id of their subject:
 * - `scheduled_status`: the scheduled status.
 * - `mute_end`: the mute.
 * - `poll_end` and `poll_update` (federates the votes): the poll's status.
 * - `post_cleanup`: the account; a step of the deletion of its old posts.
 * - `purge`: the deleted account.
 * - `domain_block`: a user's block of a domain.
 * - `block`: a block whose target has more quotes, replies or requests to end.
 * - `interaction_request`: the request whose wait for approval ends.
 * - `suspension_end`: the account; its suspension becomes irreversible.
 */
const DueKind = Schema.Literals([
  "scheduled_status",
  "mute_end",
  "poll_end",
  "poll_update",
  "post_cleanup",
  "purge",
  "domain_block",
  "block",
  "interaction_request",
  "suspension_end"
])
type DueKind = typeof DueKind.Type

/** 20 tries within 25 hours. */
export const agendaBackoff: Backoff.Backoff = {
  baseMillis: 1_000,
  growth: { factor: 2 },
  jitter: 0,
  capMillis: 4 * 3_600_000,
  triesMax: 20
}
/** Maximum entries of an account in one round. */
const claimedMax = 100

const AgendaEntry = Schema.Struct({
  kind: DueKind,
  subjectId: Schema.BigInt,
  /** Failed tries so far. */
  tries: Schema.Int
})
export type AgendaEntry = typeof AgendaEntry.Type
const entryRows = rowsOf(AgendaEntry)
const countRows = rowsOf(Schema.Struct({ count: Schema.Int }))

/**
 * Work that is due at a time. An entry's owner does and completes it in one transaction. A failed entry does not block
 * others; after its last try it is set aside until it is enqueued again or the server restarts. Entries of kinds
 * unknown to this version are kept.
 */
export class AgendaEntries extends Context.Service<AgendaEntries, {
  /** Adds or reschedules an entry in the current transaction; `dueAt` in milliseconds since 1970. */
  readonly enqueue: (
    kind: DueKind,
    subjectId: bigint,
    accountId: AccountId,
    dueAt: number
  ) => Effect.Effect<void, SqlError>
  /** Like `enqueue`, but keeps an existing entry unchanged. */
  readonly enqueueOnce: (
    kind: DueKind,
    subjectId: bigint,
    accountId: AccountId,
    dueAt: number
  ) => Effect.Effect<void, SqlError>
  /** Completes an entry, in the owner's current transaction. */
  readonly complete: (kind: DueKind, subjectId: bigint) => Effect.Effect<void, SqlError>
  /** Removes an entry whose subject is gone or has no end any more. */
  readonly cancel: (kind: DueKind, subjectId: bigint) => Effect.Effect<void, SqlError>
  /** Returns an account's due entries, oldest first. */
  readonly claim: (accountId: AccountId) => Effect.Effect<ReadonlyArray<AgendaEntry>, SqlError>
  /** Schedules a retry, or sets the entry aside after the last try. Returns true if it is retried. */
  readonly retry: (entry: AgendaEntry) => Effect.Effect<boolean, SqlError>
  /** Reschedules all failed entries for now. */
  readonly requeue: Effect.Effect<void, SqlError>
  /** Number of failed entries. */
  readonly failed: Effect.Effect<number, SqlError>
  /** Returns accounts with due entries. */
  readonly due: (accountsMax: number) => Effect.Effect<ReadonlyArray<AccountId>, SqlError>
}>()("murmuration/services/intents/AgendaEntries") {
  static readonly layer = Layer.effect(
    AgendaEntries,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const now = Effect.map(Clock.currentTimeMillis, (millis) => new Date(millis))
      const remove = (kind: DueKind, subjectId: bigint) =>
        Effect.asVoid(sql`DELETE FROM agenda WHERE kind = ${kind} AND subject_id = ${subjectId}`)
      const isDue = (at: Date) => sql`due_at <= ${at} AND failed_at IS NULL AND kind = ANY (${DueKind.literals})`
      return AgendaEntries.of({
        enqueue: traced("AgendaEntries.enqueue")((kind, subjectId, accountId, dueAt) =>
          Effect.asVoid(sql`INSERT INTO agenda (kind, subject_id, account_id, due_at)
            VALUES (${kind}, ${subjectId}, ${accountId}, ${new Date(dueAt)})
            ON CONFLICT (kind, subject_id) DO UPDATE SET due_at = EXCLUDED.due_at, tries = 0, failed_at = NULL`)
        ),
        enqueueOnce: traced("AgendaEntries.enqueueOnce")((kind, subjectId, accountId, dueAt) =>
          Effect.asVoid(sql`INSERT INTO agenda (kind, subject_id, account_id, due_at)
            VALUES (${kind}, ${subjectId}, ${accountId}, ${new Date(dueAt)}) ON CONFLICT (kind, subject_id) DO NOTHING`)
        ),
        complete: traced("AgendaEntries.complete")(remove),
        cancel: traced("AgendaEntries.cancel")(remove),
        claim: traced("AgendaEntries.claim")(function*(accountId) {
          return yield* entryRows(sql`SELECT kind, subject_id, tries FROM agenda
            WHERE account_id = ${accountId} AND ${isDue(yield* now)} ORDER BY due_at LIMIT ${claimedMax}`)
        }),
        retry: traced("AgendaEntries.retry")(function*({ kind, subjectId, tries }) {
          const at = yield* now
          const delay = yield* Backoff.next(agendaBackoff, tries + 1)
          const later = delay === undefined
            ? sql`failed_at = ${at}`
            : sql`due_at = ${new Date(at.getTime() + delay)}`
          // Unless it was enqueued again in the meantime.
          yield* sql`UPDATE agenda SET tries = ${tries + 1}, ${later}
            WHERE kind = ${kind} AND subject_id = ${subjectId} AND tries = ${tries} AND due_at <= ${at}`
          return delay !== undefined
        }),
        requeue: Effect.asVoid(sql`UPDATE agenda SET tries = 0, failed_at = NULL WHERE failed_at IS NOT NULL`),
        failed: Effect.map(
          countRows(sql`SELECT count(*)::int AS count FROM agenda WHERE failed_at IS NOT NULL`),
          (rows) => singleRow(rows).count
        ),
        due: traced("AgendaEntries.due")(function*(accountsMax) {
          const rows = yield* accountIdRows(sql`
            SELECT account_id FROM agenda WHERE ${isDue(yield* now)} GROUP BY account_id
            ORDER BY min(due_at) LIMIT ${accountsMax}`)
          return rows.map(({ accountId }) => accountId)
        })
      })
    })
  )
}
