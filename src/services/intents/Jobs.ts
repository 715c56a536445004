import { Clock, Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { rowsMax } from "../Paging.ts"
import { traced } from "../Traced.ts"

/**
 * What waits for other hosts, by its subject, an account's id: its document is to be looked at anew, it asked to move, or
 * its document says that it has moved to somebody who is not known here, or links of its profile may be its owner's. By a
 * status' id: accounts that it names are to be asked for.
 */
export type JobKind = "profile" | "move" | "redirect" | "links" | "mentions"

/** How often a job is run that does not succeed: for a day, later each time. */
const jobTriesMax = 6
/** How long one may take before somebody else runs it as well, in milliseconds; four times as long after every try. */
const jobMillisMin = 60_000

export interface Job {
  readonly kind: JobKind
  readonly subjectId: bigint
  /** When it is run again unless it is struck. */
  readonly dueAt: Date
}

/** Durable work that no transaction can wait for: at least once, by any node. */
export class Jobs extends Context.Service<Jobs, {
  /** Leaves a job in the running transaction, for now or later; one that is under way is run once more. */
  readonly leave: (kind: JobKind, subjectId: bigint, delayMillis?: number) => Effect.Effect<void, SqlError>
  /** Takes what is due, at most so many; it is the caller's until `dueAt`. What was tried too often is dropped. */
  readonly take: (errandsMax: number) => Effect.Effect<ReadonlyArray<Job>, SqlError>
  /** Is done, unless it was left anew meanwhile. */
  readonly strike: (job: Job) => Effect.Effect<void, SqlError>
}>()("murmuration/services/intents/Jobs") {
  static readonly layer = Layer.effect(
    Jobs,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const now = Effect.map(Clock.currentTimeMillis, (millis) => new Date(millis))
      return Jobs.of({
        leave: traced("Jobs.leave")(function*(kind, subjectId, delayMillis = 0) {
          const dueAt = new Date((yield* now).getTime() + delayMillis)
          yield* sql`INSERT INTO errands (kind, subject_id, due_at) VALUES (${kind}, ${subjectId}, ${dueAt})
            ON CONFLICT (kind, subject_id) DO UPDATE SET due_at = excluded.due_at, tries = 0`
        }),
        take: traced("Jobs.take")(function*(errandsMax) {
          const at = yield* now
          const due = sql`SELECT kind, subject_id FROM errands WHERE due_at <= ${at} ORDER BY due_at
            LIMIT ${rowsMax(sql, errandsMax)} FOR UPDATE SKIP LOCKED`
          const taken = yield* sql<Job & { readonly tries: number }>`
            UPDATE errands SET tries = tries + 1,
              due_at = ${at}::timestamptz + interval '1 millisecond' * (${jobMillisMin} * power(4, tries))
            WHERE (kind, subject_id) IN (${due}) RETURNING kind, subject_id, due_at, tries`
          yield* sql`DELETE FROM errands WHERE tries > ${jobTriesMax}`
          return taken.filter(({ tries }) => tries <= jobTriesMax)
        }),
        strike: traced("Jobs.strike")(({ dueAt, kind, subjectId }) =>
          Effect.asVoid(
            sql`DELETE FROM errands WHERE kind = ${kind} AND subject_id = ${subjectId} AND due_at = ${dueAt}`
          )
        )
      })
    })
  )
}
