import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { AccountId } from "../database/Ids.ts"
import { rowsOf, Timestamptz } from "../database/Rows.ts"
import { transaction } from "../database/Transactions.ts"
import { Broadcast } from "../events/Broadcast.ts"
import { Conflict } from "../runtime/Errors.ts"
import { traced } from "../runtime/Traced.ts"

export const markedTimelines = ["home", "notifications"] as const
type MarkedTimeline = typeof markedTimelines[number]

/** Read position; `version` grows with every change. */
const Marker = Schema.Struct({
  timeline: Schema.Literals(markedTimelines),
  lastReadId: Schema.BigInt,
  version: Schema.Int,
  updatedAt: Timestamptz
})
export type Marker = typeof Marker.Type
const markerRows = rowsOf(Marker)

/** Read positions of an account; changes are streamed to that account only. */
export class Markers extends Context.Service<Markers, {
  readonly of: (account: AccountId, timelines: ReadonlyArray<MarkedTimeline>) => Effect.Effect<ReadonlyArray<Marker>>
  /** Saves all positions; saves none and fails with `Conflict` if one changed between reading and writing it. */
  readonly save: (
    account: AccountId,
    positions: ReadonlyArray<Pick<Marker, "timeline" | "lastReadId">>
  ) => Effect.Effect<ReadonlyArray<Marker>, Conflict>
}>()("murmuration/services/feeds/Markers") {
  static readonly layer = Layer.effect(
    Markers,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const broadcast = yield* Broadcast
      const columns = sql.literal("timeline, last_read_id, version, updated_at")

      const of = traced("Markers.of")((account: AccountId, timelines: ReadonlyArray<MarkedTimeline>) =>
        markerRows(sql`SELECT ${columns} FROM markers
          WHERE account_id = ${account} AND timeline = ANY (${timelines}::text[]) ORDER BY timeline`).pipe(Effect.orDie)
      )

      const save = traced("Markers.save")(function*(
        account: AccountId,
        positions: ReadonlyArray<Pick<Marker, "timeline" | "lastReadId">>
      ) {
        if (positions.length === 0) return []
        const now = new Date(yield* Clock.currentTimeMillis)
        const known = new Map(
          (yield* of(account, positions.map(({ timeline }) => timeline))).map((marker) => [marker.timeline, marker])
        )
        return yield* Effect.forEach(positions, ({ lastReadId, timeline }) => {
          const before = known.get(timeline)
          const statement = before === undefined
            ? markerRows(sql`INSERT INTO markers (account_id, timeline, last_read_id, version, updated_at)
                VALUES (${account}, ${timeline}, ${lastReadId}, 1, ${now}) ON CONFLICT DO NOTHING RETURNING ${columns}`)
            : markerRows(sql`UPDATE markers SET last_read_id = ${lastReadId}, version = version + 1, updated_at = ${now}
                WHERE account_id = ${account} AND timeline = ${timeline} AND version = ${before.version}
                RETURNING ${columns}`)
          return Effect.flatMap(
            Effect.orDie(statement),
            ([row]) => row === undefined ? new Conflict() : Effect.succeed(row)
          )
        }).pipe(
          Effect.tap(sql.afterCommit(broadcast.publish({ _tag: "MarkersSaved", accountId: account }))),
          transaction(sql),
          Effect.catchTag("SqlError", Effect.die)
        )
      })
      return Markers.of({ of, save })
    })
  )
}
