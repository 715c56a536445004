import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import * as Backoff from "../Backoff.ts"
import type { AccountId } from "../Ids.ts"
import { accountIdRows, only, rowsOf } from "../Rows.ts"
import { traced } from "../Traced.ts"

/**
 * What can be due, by its subject. A scheduled status, by its id. The end of a mute, by the mute's id. The end of a
 * poll, or that other servers hear of its votes, by its status' id. What an account that is gone left behind, by the
 * account's id. What follows from a user's block of a domain, by the block's id. The end of waiting for an author's consent,
 * by the request's id. The end of the time in which a suspension can be taken back, by the account's id.
 */
const DueKind = Schema.Literals([
  "scheduled_status",
  "mute_end",
  "poll_end",
  "poll_update",
  "purge",
  "domain_block",
  "interaction_request",
  "suspension_end"
])
type DueKind = typeof DueKind.Type

/** An entry is tried 20 times in 25 hours. */
export const agendaBackoff: Backoff.Backoff = {
  baseMillis: 1_000,
  growth: { factor: 2 },
  jitter: 0,
  capMillis: 4 * 3_600_000,
  triesMax: 20
}
/** Entries of an account that one round takes up. */
const claimedMax = 100

const AgendaEntry = Schema.Struct({
  kind: DueKind,
  subjectId: Schema.BigInt,
  /** How often it was tried in vain. */
  tries: Schema.Int
})
export type AgendaEntry = typeof AgendaEntry.Type
const entryRows = rowsOf(AgendaEntry)
const countRows = rowsOf(Schema.Struct({ count: Schema.Int }))

/**
 * Work that is due at a time. The owner of an entry does it and completes it in one transaction. One that fails holds up none
 * that is due beside it; after its last try it is set aside, until it is enqueued anew or the server starts anew. Kinds that
 * this version of the program does not know stay.
 */
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
  readonly claim: (accountId: AccountId) => Effect.Effect<ReadonlyArray<AgendaEntry>, SqlError>
  /** It was tried in vain: is tried again later, or has failed after the last try. Answers whether it is tried again. */
  readonly retry: (entry: AgendaEntry) => Effect.Effect<boolean, SqlError>
  /** Everything that has failed is due again. */
  readonly requeue: Effect.Effect<void, SqlError>
  /** How many have failed. */
  readonly failed: Effect.Effect<number, SqlError>
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
          // Unless it was enqueued anew meanwhile.
          yield* sql`UPDATE agenda SET tries = ${tries + 1}, ${later}
            WHERE kind = ${kind} AND subject_id = ${subjectId} AND tries = ${tries} AND due_at <= ${at}`
          return delay !== undefined
        }),
        requeue: Effect.asVoid(sql`UPDATE agenda SET tries = 0, failed_at = NULL WHERE failed_at IS NOT NULL`),
        failed: Effect.map(
          countRows(sql`SELECT count(*)::int AS count FROM agenda WHERE failed_at IS NOT NULL`),
          (rows) => only(rows).count
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
