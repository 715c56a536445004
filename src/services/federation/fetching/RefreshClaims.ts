import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { rowsOf } from "../../database/Rows.ts"
import { aheadMillisMax } from "../../runtime/Moments.ts"
import { traced } from "../../runtime/Traced.ts"

const claimRows = rowsOf(Schema.Struct({ running: Schema.Boolean, found: Schema.Int }))

/**
 * Kinds of work: refresh the conversation around a post, the posts of an account or the poll of a post; build the
 * yearly report of an account.
 */
export type RefreshKind = "thread" | "profile" | "poll" | "report"

/** Maximum duration of a refresh, in seconds; less than the time until the next of its kind. */
export const refreshSecondsMax = 300

/** Claims of refreshes: one at a time per subject on all nodes, and not too often. */
export class RefreshClaims extends Context.Service<RefreshClaims, {
  /** Claims a refresh; false if one began in the last `millis` milliseconds. */
  readonly begin: (kind: RefreshKind, subjectId: bigint, millis: number) => Effect.Effect<boolean>
  /** Ends a refresh that found `found` new items. */
  readonly end: (kind: RefreshKind, subjectId: bigint, found: number) => Effect.Effect<void>
  /** Returns the newest refresh; undefined if there was none recently. */
  readonly find: (
    kind: RefreshKind,
    subjectId: bigint
  ) => Effect.Effect<{ readonly running: boolean; readonly found: number } | undefined>
}>()("murmuration/services/federation/fetching/RefreshClaims") {
  static readonly layer = Layer.effect(
    RefreshClaims,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      return RefreshClaims.of({
        begin: traced("RefreshClaims.begin")(function*(kind, subjectId, millis) {
          const now = yield* Clock.currentTimeMillis
          const rows =
            yield* sql`INSERT INTO look_ups (kind, subject_id, begun_at) VALUES (${kind}, ${subjectId}, ${new Date(
              now
            )}) ON CONFLICT (kind, subject_id) DO UPDATE SET begun_at = excluded.begun_at, ended_at = NULL, found = 0
            WHERE look_ups.begun_at <= ${new Date(now - millis)} OR look_ups.begun_at > ${new Date(
              now + aheadMillisMax
            )} RETURNING 1`
          return rows.length > 0
        }, Effect.orDie),
        end: traced("RefreshClaims.end")(function*(kind, subjectId, found) {
          const at = new Date(yield* Clock.currentTimeMillis)
          yield* sql`UPDATE look_ups SET ended_at = ${at}, found = ${found} WHERE kind = ${kind} AND subject_id = ${subjectId}`
        }, Effect.orDie),
        find: traced("RefreshClaims.find")(function*(kind, subjectId) {
          const since = new Date((yield* Clock.currentTimeMillis) - refreshSecondsMax * 1_000)
          const [row] = yield* claimRows(sql`
            SELECT ended_at IS NULL AND begun_at > ${since} AS running, found FROM look_ups
            WHERE kind = ${kind} AND subject_id = ${subjectId}`)
          return row
        }, Effect.orDie)
      })
    })
  )
}
