import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import type { AccountId } from "../database/Ids.ts"
import { accountIdRows, idRows, rowsOf, singleRow } from "../database/Rows.ts"
import * as Backoff from "../runtime/Backoff.ts"
import { traced } from "../runtime/Traced.ts"
import { currentTraceParent, TraceParent } from "../runtime/TraceParents.ts"

/** A command from the operator's command line; `command` is the protocol's JSON. */
const OperatorCommand = Schema.Struct({
  id: Schema.BigInt,
  command: Schema.Unknown,
  /** Failed tries so far. */
  tries: Schema.Int,
  traceParent: TraceParent
})
export type OperatorCommand = typeof OperatorCommand.Type
const commandRows = rowsOf(OperatorCommand)

/** 16 tries within 67 minutes. */
export const operatorBackoff: Backoff.Backoff = {
  baseMillis: 1_000,
  growth: { factor: 2 },
  jitter: 0,
  capMillis: 600_000,
  triesMax: 16
}
/** Maximum commands of an account in one round. */
const claimedMax = 100

/**
 * Commands that the command line writes as rows while a server runs; the accounts' actors run them, those of one
 * account in order. A retried command blocks those behind it until it is done or has failed.
 */
export class OperatorCommands extends Context.Service<OperatorCommands, {
  readonly enqueue: (accountId: AccountId, kind: string, command: string) => Effect.Effect<bigint, SqlError>
  /** Adds the same command for several accounts, in the current transaction. */
  readonly enqueueAll: (
    accountIds: ReadonlyArray<AccountId>,
    kind: string,
    command: string
  ) => Effect.Effect<void, SqlError>
  readonly claim: (accountId: AccountId) => Effect.Effect<ReadonlyArray<OperatorCommand>, SqlError>
  readonly complete: (id: bigint) => Effect.Effect<void, SqlError>
  /** Schedules a retry, or drops the command after the last try. Returns true if it is retried. */
  readonly retry: (command: OperatorCommand) => Effect.Effect<boolean, SqlError>
  /** Returns accounts with waiting commands. */
  readonly due: (accountsMax: number) => Effect.Effect<ReadonlyArray<AccountId>, SqlError>
}>()("murmuration/services/intents/OperatorCommands") {
  static readonly layer = Layer.effect(
    OperatorCommands,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const now = Effect.map(Clock.currentTimeMillis, (millis) => new Date(millis))
      /** Condition: one of the account's commands waits for its retry. */
      const waits = (at: Date) =>
        sql`EXISTS (SELECT FROM account_intents r WHERE r.account_id = w.account_id AND r.due_at > ${at})`
      const complete = (id: bigint) => Effect.asVoid(sql`DELETE FROM account_intents WHERE id = ${id}`)
      return OperatorCommands.of({
        enqueue: traced("OperatorCommands.enqueue")(function*(accountId, kind, command) {
          const now = yield* Clock.currentTimeMillis
          const rows = yield* idRows(sql`
            INSERT INTO account_intents (id, account_id, kind, details, created_at, trace_parent)
            VALUES (next_id(${now}), ${accountId}, ${kind}, ${command}::jsonb, ${new Date(now)},
              ${yield* currentTraceParent}) RETURNING id`)
          return singleRow(rows).id
        }),
        enqueueAll: traced("OperatorCommands.enqueueAll")(function*(accountIds, kind, command) {
          if (accountIds.length === 0) return
          const now = yield* Clock.currentTimeMillis
          yield* sql`INSERT INTO account_intents (id, account_id, kind, details, created_at, trace_parent)
            SELECT next_id(${now}), one, ${kind}, ${command}::jsonb, ${new Date(
            now
          )}, ${yield* currentTraceParent}::text
            FROM unnest(${accountIds}::bigint[]) one`
        }),
        claim: traced("OperatorCommands.claim")(function*(accountId) {
          return yield* commandRows(sql`SELECT id, details AS command, tries, trace_parent FROM account_intents w
            WHERE account_id = ${accountId} AND NOT ${waits(yield* now)} ORDER BY id LIMIT ${claimedMax}`)
        }),
        complete: traced("OperatorCommands.complete")(complete),
        retry: traced("OperatorCommands.retry")(function*({ id, tries }) {
          const delay = yield* Backoff.next(operatorBackoff, tries + 1)
          if (delay === undefined) {
            yield* complete(id)
            return false
          }
          const dueAt = new Date((yield* now).getTime() + delay)
          yield* sql`UPDATE account_intents SET tries = ${tries + 1}, due_at = ${dueAt} WHERE id = ${id}`
          return true
        }),
        due: traced("OperatorCommands.due")(function*(accountsMax) {
          const rows = yield* accountIdRows(sql`SELECT DISTINCT account_id FROM account_intents w
            WHERE NOT ${waits(yield* now)} LIMIT ${accountsMax}`)
          return rows.map(({ accountId }) => accountId)
        })
      })
    })
  )
}
