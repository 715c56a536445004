import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { rowsMax } from "../database/Paging.ts"
import { rowsOf } from "../database/Rows.ts"
import { traced } from "../runtime/Traced.ts"

/** Period of a node's reports, and age after which a report is ignored, in milliseconds. */
export const reportMillis = 10_000
const believedMillisMax = 3 * reportMillis + 5_000
/** Retention of the row of a node that has stopped reporting, in milliseconds. */
const keptMillisMax = 86_400_000
/** Maximum listed nodes. */
const nodesMax = 100

const NodeFigure = Schema.Struct({
  address: Schema.String,
  healthy: Schema.Boolean,
  /** Null without a recent report. */
  actors: Schema.NullOr(Schema.Int),
  shards: Schema.NullOr(Schema.Int)
})
type NodeFigure = typeof NodeFigure.Type
const nodeRows = rowsOf(NodeFigure)
const tableRows = rowsOf(Schema.Struct({ there: Schema.Boolean }))

/** Nodes of the cluster, with their actors in memory and their shards. */
export class NodeFigures extends Context.Service<NodeFigures, {
  /** Nodes in the cluster's tables; empty if this process runs alone. */
  readonly list: Effect.Effect<ReadonlyArray<NodeFigure>>
  /** Stores a node's report about itself. */
  readonly report: (
    node: { readonly address: string; readonly actors: number; readonly shards: number }
  ) => Effect.Effect<
    void,
    SqlError
  >
}>()("murmuration/services/metrics/NodeFigures") {
  static readonly layer = Layer.effect(
    NodeFigures,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      return NodeFigures.of({
        list: Effect.gen(function*() {
          const [found] = yield* tableRows(sql`SELECT to_regclass('cluster_runners') IS NOT NULL AS there`)
          if (found?.there !== true) return []
          const since = new Date((yield* Clock.currentTimeMillis) - believedMillisMax)
          return yield* nodeRows(sql`SELECT r.address, r.healthy, f.actors, f.shards FROM cluster_runners r
            LEFT JOIN node_figures f ON f.address = r.address AND f.reported_at > ${since}
            ORDER BY r.address LIMIT ${rowsMax(sql, nodesMax)}`)
        }).pipe(Effect.orDie, Effect.withSpan("NodeFigures.list")),
        report: traced("NodeFigures.report")(function*({ actors, address, shards }) {
          const now = yield* Clock.currentTimeMillis
          yield* sql`INSERT INTO node_figures (address, actors, shards, reported_at)
            VALUES (${address}, ${actors}, ${shards}, ${new Date(now)})
            ON CONFLICT (address) DO UPDATE SET actors = excluded.actors, shards = excluded.shards,
              reported_at = excluded.reported_at`
          yield* sql`DELETE FROM node_figures WHERE reported_at < ${new Date(now - keptMillisMax)}`
        })
      })
    })
  )
}
