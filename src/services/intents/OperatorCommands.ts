import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import type { AccountId } from "../Ids.ts"
import { accountIdRows, idRows, only, rowsOf } from "../Rows.ts"
import { traced } from "../Traced.ts"

/** A command from outside the cluster, as the operator's command line left it; `command` is the protocol's JSON. */
export const OperatorCommand = Schema.Struct({ id: Schema.BigInt, command: Schema.Unknown })
export type OperatorCommand = typeof OperatorCommand.Type
const commandRows = rowsOf(OperatorCommand)

/** Commands that the command line writes as rows beside a running server, for accounts' actors to run. */
export class OperatorCommands extends Context.Service<OperatorCommands, {
  readonly enqueue: (accountId: AccountId, kind: string, command: string) => Effect.Effect<bigint, SqlError>
  /** The same command for several accounts, in the running transaction. */
  readonly enqueueAll: (
    accountIds: ReadonlyArray<AccountId>,
    kind: string,
    command: string
  ) => Effect.Effect<void, SqlError>
  readonly claim: (accountId: AccountId) => Effect.Effect<ReadonlyArray<OperatorCommand>, SqlError>
  readonly complete: (id: bigint) => Effect.Effect<void, SqlError>
  /** Accounts for which commands wait. */
  readonly due: (accountsMax: number) => Effect.Effect<ReadonlyArray<AccountId>, SqlError>
}>()("murmuration/services/intents/OperatorCommands") {
  static readonly layer = Layer.effect(
    OperatorCommands,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      return OperatorCommands.of({
        enqueue: traced("OperatorCommands.enqueue")(function*(accountId, kind, command) {
          const now = yield* Clock.currentTimeMillis
          const rows = yield* idRows(sql`
            INSERT INTO account_intents (id, account_id, kind, details, created_at)
            VALUES (next_id(${now}), ${accountId}, ${kind}, ${command}::jsonb, ${new Date(
            now
          )}) RETURNING id`)
          return only(rows).id
        }),
        enqueueAll: traced("OperatorCommands.enqueueAll")(function*(accountIds, kind, command) {
          if (accountIds.length === 0) return
          const now = yield* Clock.currentTimeMillis
          yield* sql`INSERT INTO account_intents (id, account_id, kind, details, created_at)
            SELECT next_id(${now}), one, ${kind}, ${command}::jsonb, ${new Date(now)}
            FROM unnest(${accountIds}::bigint[]) one`
        }),
        claim: traced("OperatorCommands.claim")((accountId) =>
          commandRows(sql`SELECT id, details AS command FROM account_intents
            WHERE account_id = ${accountId} ORDER BY id LIMIT 100`)
        ),
        complete: traced("OperatorCommands.complete")((id) =>
          Effect.asVoid(sql`DELETE FROM account_intents WHERE id = ${id}`)
        ),
        due: traced("OperatorCommands.due")(function*(accountsMax) {
          const rows = yield* accountIdRows(sql`SELECT DISTINCT account_id FROM account_intents LIMIT ${accountsMax}`)
          return rows.map(({ accountId }) => accountId)
        })
      })
    })
  )
}
