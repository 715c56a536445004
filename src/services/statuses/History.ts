import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { rowsMax } from "../Paging.ts"
import { traced } from "../Traced.ts"

/** A version of a status. */
export interface Revision {
  readonly accountId: bigint
  readonly local: boolean
  readonly html: string
  readonly spoilerText: string
  readonly sensitive: boolean
  readonly createdAt: Date
}

/** Versions of one status that are shown, the oldest. */
export const revisionsMax = 500

/** The versions of statuses, to be asked for by whom may see the status. */
export class History extends Context.Service<History, {
  /** Oldest first; one where the status was never edited (S-144). */
  readonly of: (statusId: bigint) => Effect.Effect<ReadonlyArray<Revision>>
}>()("murmuration/services/statuses/History") {
  static readonly layer = Layer.effect(
    History,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const of = traced("History.of")(function*(statusId: bigint) {
        // The first edit stores the original as well, so an unedited status is the one without rows.
        return yield* sql<Revision>`
          SELECT s.account_id, s.local, e.html, e.spoiler_text, e.sensitive, e.created_at FROM statuses s
          CROSS JOIN LATERAL (
            (SELECT id, html, spoiler_text, sensitive, created_at FROM status_edits WHERE status_id = s.id
              ORDER BY id LIMIT ${rowsMax(sql, revisionsMax)})
            UNION ALL
            SELECT s.id, s.html, s.spoiler_text, s.sensitive, s.created_at WHERE s.edited_at IS NULL) e
          WHERE s.id = ${statusId} ORDER BY e.id`
      }, Effect.orDie)
      return History.of({ of })
    })
  )
}
