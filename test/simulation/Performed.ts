import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { Commands, StaleOwner } from "../../src/services/intents/Commands.ts"
import type { Machine } from "./Machine.ts"
import type { Mutation, World } from "./World.ts"

/** A row for each transaction of an account's owner, in commit order. */
export interface Performed {
  readonly seq: number
  readonly accountId: bigint
  readonly epoch: bigint
  /** Epoch of the account's owner at the time. */
  readonly current: bigint
  readonly machine: string
  /** Command's id; null for fan-out and agenda work. */
  readonly commandId: string | null
  readonly resultId: string | null
  readonly at: Date
  /** Start of the transaction's work. */
  readonly beganAt: Date
}

export const statement = `CREATE TABLE performed (
  seq integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
  account_id bigint NOT NULL,
  epoch bigint NOT NULL,
  current bigint NOT NULL,
  machine text NOT NULL,
  command_id text,
  result_id text,
  at timestamptz NOT NULL,
  began_at timestamptz NOT NULL
)`

/** Parts of the world that observe transactions. */
interface Observer extends Pick<World, "count" | "performs" | "say" | "time"> {
  readonly mutation: Pick<Mutation, "commands" | "sql">
}

/** The owners' real (or mutant) transactions; each one with an effect also inserts a row about itself. */
export const commands = (world: Observer, machine: Machine) =>
  Layer.effect(
    Commands,
    Effect.gen(function*() {
      const real = yield* Commands
      const sql = yield* SqlClient.SqlClient
      const tested = world.mutation.commands?.(real, sql) ?? real
      const record = (
        owner: { accountId: bigint; epoch: bigint },
        began: number,
        commandId: string | null,
        resultId: string | null
      ) => {
        if (commandId !== null) world.performs(machine, commandId)
        return sql`INSERT INTO performed (account_id, epoch, current, machine, command_id, result_id, at, began_at)
          SELECT ${owner.accountId}, ${owner.epoch}, epoch, ${machine.name}, ${commandId}, ${resultId}, ${new Date(
          world.time.now
        )}, ${new Date(began)} FROM actors WHERE account_id = ${owner.accountId}`
      }
      const refused = (error: unknown) =>
        Effect.sync(() => {
          if (!(error instanceof StaleOwner)) return
          world.count("stale commit refused")
          world.say(`${machine.name}: a transaction of an earlier owner is refused`)
        })
      return Commands.of({
        ...tested,
        runOnce: (owner, id, family, work) =>
          Effect.tapError(
            tested.runOnce(
              owner,
              id,
              family,
              Effect.suspend(() => {
                const began = world.time.now
                return Effect.tap(work, (response) => record(owner, began, id, response.id))
              })
            ),
            refused
          ),
        // The additional row turns the single statement into a transaction.
        runAsStatement: (owner, id, outcome, statement) => {
          let began = world.time.now
          const done = tested.runAsStatement(owner, id, outcome, (recording) => {
            began = world.time.now
            return statement(recording)
          })
          return sql.withTransaction(Effect.tap(done, (response) =>
            response === undefined ? Effect.void : Effect.flatMap(
              sql<{ id: string }>`SELECT max(id)::text AS id FROM statuses WHERE account_id = ${owner.accountId}`,
              ([newest]) => record(owner, began, id, newest?.id ?? null)
            )))
        },
        owned: (owner, work) =>
          Effect.tapError(
            tested.owned(owner, Effect.tap(work, Effect.suspend(() => record(owner, world.time.now, null, null)))),
            refused
          ),
        lock: (owner) =>
          Effect.tapError(
            Effect.andThen(tested.lock(owner), Effect.suspend(() => record(owner, world.time.now, null, null))),
            refused
          )
      })
    })
  ).pipe(Layer.provide(Commands.layer))
