import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { rowsMax } from "../database/Paging.ts"
import { rowsOf } from "../database/Rows.ts"
import { settings } from "../instance/SettingTable.ts"
import { type StorageBudgets, storageBudgetsOf } from "../instance/StorageBudgets.ts"
import { MediaUsage } from "../media/MediaUsage.ts"
import { RemoteCopies } from "../media/RemoteCopies.ts"
import { figureCache } from "./KeptFigures.ts"

/** Maximum listed tables. */
const tablesMax = 10

const tableRows = rowsOf(Schema.Struct({ name: Schema.String, bytes: Schema.BigInt }))
const budgetRows = rowsOf(Schema.Struct({ value: Schema.Unknown }))
const databaseRows = rowsOf(Schema.Struct({ bytes: Schema.BigInt }))

/** Storage usage at one moment, in bytes. */
interface Storage {
  readonly database: bigint
  /** Largest first, including their indexes. */
  readonly tables: ReadonlyArray<{ readonly name: string; readonly bytes: bigint }>
  readonly media: MediaUsage["Service"]["ledger"] extends Effect.Effect<infer Ledger> ? Ledger : never
}

/** Uncached values: the budgets, which may have just changed, and the local copies of remote files. */
interface Bounds {
  readonly budgets: StorageBudgets
  readonly copies: Effect.Success<RemoteCopies["Service"]["usage"]>
}

/** Storage usage, and its budgets. */
export class StorageFigures extends Context.Service<StorageFigures, {
  /** Current figures; sizes are up to five minutes old. */
  readonly current: Effect.Effect<Storage & Bounds>
}>()("murmuration/services/metrics/StorageFigures") {
  static readonly layer = Layer.effect(
    StorageFigures,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const usage = yield* MediaUsage
      const copies = yield* RemoteCopies
      const cached = figureCache<Storage>()
      const read = Effect.gen(function*() {
        const [database] = yield* databaseRows(sql`SELECT pg_database_size(current_database()) AS bytes`)
        const tables = yield* tableRows(sql`SELECT c.relname AS name, pg_total_relation_size(c.oid) AS bytes
          FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace AND n.nspname = current_schema()
          WHERE c.relkind = 'r' ORDER BY 2 DESC, 1 LIMIT ${rowsMax(sql, tablesMax)}`)
        return { database: database?.bytes ?? 0n, tables, media: yield* usage.ledger }
      }).pipe(Effect.orDie)
      return StorageFigures.of({
        current: Effect.gen(function*() {
          const [row] = yield* Effect.orDie(
            budgetRows(sql`SELECT value FROM settings WHERE name = ${settings.storageBudgets.stored}`)
          )
          return { ...(yield* cached("all", read)), budgets: storageBudgetsOf(row?.value), copies: yield* copies.usage }
        }).pipe(Effect.withSpan("StorageFigures.current"))
      })
    })
  ).pipe(Layer.provide(MediaUsage.layer))
}
