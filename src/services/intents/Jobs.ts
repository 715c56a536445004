import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { rowsMax } from "../database/Paging.ts"
import { rowsOf, Timestamptz } from "../database/Rows.ts"
import * as Backoff from "../runtime/Backoff.ts"
import { traced } from "../runtime/Traced.ts"
import { currentTraceParent, TraceParent } from "../runtime/TraceParents.ts"

/**
 * Jobs of an account: fetch its document (`profile`), verify a move that it requested (`move`) or that its document
 * names (`redirect`), verify links to its profile (`links`), fetch its collections (`collections`), send the follows of
 * local accounts again (`refollow`). Jobs of a status:
 * fetch accounts that it mentions (`mentions`), verify its quote (`quote`) and that the quote's consent still exists
 * (`consent`), fetch collections that it names (`tagged`), link replies that arrived before it (`replies`). Job of a
 * request: verify the consent that a reply or reblog claims (`interaction`). Job of a collection of accounts: verify
 * the consent of its accounts (`features`).
 */
const JobKind = Schema.Literals([
  "profile",
  "move",
  "redirect",
  "links",
  "mentions",
  "collections",
  "refollow",
  "features",
  "tagged",
  "quote",
  "consent",
  "interaction",
  "replies"
])
export type JobKind = typeof JobKind.Type

/** Six runs within six hours. */
const jobBackoff: Backoff.Backoff = {
  baseMillis: 60_000,
  growth: { factor: 4 },
  jitter: 0,
  capMillis: 24 * 3_600_000,
  triesMax: 6
}
/** Lease of a claimed job, in milliseconds; longer than one run takes. */
const claimMillis = 60_000

const Job = Schema.Struct({
  kind: JobKind,
  subjectId: Schema.BigInt,
  /** Claims so far, including this one. */
  tries: Schema.Int,
  /** End of the claim. */
  dueAt: Timestamptz,
  traceParent: TraceParent
})
export type Job = typeof Job.Type
const jobRows = rowsOf(Job)

/**
 * Durable work that no transaction can wait for: at least once, by any node, unordered. Jobs of kinds unknown to this
 * version are kept.
 */
export class Jobs extends Context.Service<Jobs, {
  /** Adds a job in the current transaction, for now or later; a running one is run again. */
  readonly enqueue: (kind: JobKind, subjectId: bigint, delayMillis?: number) => Effect.Effect<void, SqlError>
  /** Claims up to `jobsMax` due jobs until their `dueAt`. */
  readonly claim: (jobsMax: number) => Effect.Effect<ReadonlyArray<Job>, SqlError>
  /** Completes a job, unless it was enqueued again in the meantime. */
  readonly complete: (job: Job) => Effect.Effect<void, SqlError>
  /** Schedules a retry, or drops the job after the last try; unless it was enqueued again in the meantime. */
  readonly retry: (job: Job) => Effect.Effect<void, SqlError>
}>()("murmuration/services/intents/Jobs") {
  static readonly layer = Layer.effect(
    Jobs,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const now = Effect.map(Clock.currentTimeMillis, (millis) => new Date(millis))
      const claimedAs = ({ dueAt, kind, subjectId }: Job) =>
        sql`kind = ${kind} AND subject_id = ${subjectId} AND due_at = ${dueAt}`
      const remove = (job: Job) => Effect.asVoid(sql`DELETE FROM errands WHERE ${claimedAs(job)}`)
      return Jobs.of({
        enqueue: traced("Jobs.enqueue")(function*(kind, subjectId, delayMillis = 0) {
          const dueAt = new Date((yield* now).getTime() + delayMillis)
          yield* sql`INSERT INTO errands (kind, subject_id, due_at, trace_parent)
            VALUES (${kind}, ${subjectId}, ${dueAt}, ${yield* currentTraceParent})
            ON CONFLICT (kind, subject_id) DO UPDATE SET due_at = excluded.due_at, tries = 0,
              trace_parent = excluded.trace_parent`
        }),
        claim: traced("Jobs.claim")(function*(jobsMax) {
          const at = yield* now
          const due = sql`SELECT kind, subject_id FROM errands
            WHERE due_at <= ${at} AND kind = ANY (${JobKind.literals}) ORDER BY due_at
            LIMIT ${rowsMax(sql, jobsMax)} FOR UPDATE SKIP LOCKED`
          const claimed = yield* jobRows(sql`
            UPDATE errands SET tries = tries + 1, due_at = ${new Date(at.getTime() + claimMillis)}
            WHERE (kind, subject_id) IN (${due}) RETURNING kind, subject_id, due_at, tries, trace_parent`)
          // Every run of these ended with its node.
          yield* sql`DELETE FROM errands WHERE tries > ${jobBackoff.triesMax}`
          return claimed.filter(({ tries }) => tries <= jobBackoff.triesMax)
        }),
        complete: traced("Jobs.complete")((job) => remove(job)),
        retry: traced("Jobs.retry")(function*(job) {
          const delay = yield* Backoff.next(jobBackoff, job.tries)
          if (delay === undefined) return yield* remove(job)
          const dueAt = new Date((yield* now).getTime() + delay)
          yield* sql`UPDATE errands SET due_at = ${dueAt} WHERE ${claimedAs(job)}`
        })
      })
    })
  )
}
