import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { settings } from "../instance/SettingNames.ts"
import { type StorageBudgets, storageBudgetsOf } from "../instance/StorageBudgets.ts"
import { MediaUsage } from "../media/MediaUsage.ts"
import { RemoteCopies } from "../media/RemoteCopies.ts"
import { rowsMax } from "../Paging.ts"
import { rowsOf } from "../Rows.ts"
import { keptFigures } from "./KeptFigures.ts"

/** Tables that are named. */
const tablesMax = 10

const tableRows = rowsOf(Schema.Struct({ name: Schema.String, bytes: Schema.BigInt }))
const budgetRows = rowsOf(Schema.Struct({ value: Schema.Unknown }))
const databaseRows = rowsOf(Schema.Struct({ bytes: Schema.BigInt }))

/** How much room there is taken, at one moment. */
interface Storage {
  readonly database: bigint
  /** The largest first, with their indexes. */
  readonly tables: ReadonlyArray<{ readonly name: string; readonly bytes: bigint }>
  readonly media: MediaUsage["Service"]["ledger"] extends Effect.Effect<infer Ledger> ? Ledger : never
}

/** What is asked each time: budgets that were set a moment ago, and copies of others' files on this machine. */
interface Bounds {
  readonly budgets: StorageBudgets
  readonly copies: Effect.Success<RemoteCopies["Service"]["usage"]>
}

/** What takes room, and how much it should take at most. */
export class StorageFigures extends Context.Service<StorageFigures, {
  /** Sizes are five minutes old at most. */
  readonly current: Effect.Effect<Storage & Bounds>
}>()("murmuration/services/metrics/StorageFigures") {
  static readonly layer = Layer.effect(
    StorageFigures,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const usage = yield* MediaUsage
      const copies = yield* RemoteCopies
      const kept = keptFigures<Storage>()
      const read = Effect.gen(function*() {
        const [whole] = yield* databaseRows(sql`SELECT pg_database_size(current_database()) AS bytes`)
        const tables = yield* tableRows(sql`SELECT c.relname AS name, pg_total_relation_size(c.oid) AS bytes
          FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace AND n.nspname = current_schema()
          WHERE c.relkind = 'r' ORDER BY 2 DESC, 1 LIMIT ${rowsMax(sql, tablesMax)}`)
        return { database: whole?.bytes ?? 0n, tables, media: yield* usage.ledger }
      }).pipe(Effect.orDie)
      return StorageFigures.of({
        current: Effect.gen(function*() {
          const [row] = yield* Effect.orDie(
            budgetRows(sql`SELECT value FROM settings WHERE name = ${settings.storageBudgets}`)
          )
          return { ...(yield* kept("all", read)), budgets: storageBudgetsOf(row?.value), copies: yield* copies.usage }
        }).pipe(Effect.withSpan("StorageFigures.current"))
      })
    })
  ).pipe(Layer.provide(MediaUsage.layer))
}
