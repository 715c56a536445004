import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import type { Fragment } from "effect/sql/Statement"
import type { AccountId } from "../database/Ids.ts"
import { persisted } from "../database/Persisted.ts"
import { rowsOf, singleRow } from "../database/Rows.ts"
import { batched } from "../database/TransactionBatch.ts"
import { RecordNotFound } from "../runtime/Errors.ts"
import { traced } from "../runtime/Traced.ts"

/** Right to write an account's actions: the node that activated the account last has the highest epoch. */
export interface Owner {
  readonly accountId: AccountId
  readonly epoch: bigint
}

/** Another node has taken over the account; nothing was written. */
export class StaleOwner extends Schema.TaggedError<StaleOwner>()("StaleOwner", {}) {}

/**
 * Result of a command: the id of what it created or changed, as a decimal string, and the rate limit that it used. Kind
 * `refused` has the id of the spam rule: a failure would roll the record of the refusal back.
 */
export const CommandResponse = Schema.Struct({
  id: Schema.String,
  kind: Schema.Literals([
    "status",
    "scheduled",
    "draft",
    "account",
    "report",
    "announcement",
    "collection",
    "warning",
    "refused"
  ]),
  /** True for a new status that is not a reply and is not published yet. */
  isNew: Schema.optionalKey(Schema.Literal(true)),
  standing: Schema.optionalKey(
    Schema.Struct({ limit: Schema.Int, remaining: Schema.Int, resetAt: Schema.Int })
  )
})
export type CommandResponse = typeof CommandResponse.Type
/** Response as stored under its command's id. */
export const PersistedResponse = persisted(CommandResponse, 1)

/** Minimum retention of a response, in milliseconds; longer than the longest rate limit period. */
const commandMillisMin = 25 * 3_600_000

/** Rate limits of account actions, aligned to the clock (limits-and-rates.md section 3). */
export const families = {
  statuses: { uses: 300, seconds: 3 * 3600 },
  follows: { uses: 400, seconds: 24 * 3600 },
  reports: { uses: 400, seconds: 24 * 3600 }
}
export type Family = keyof typeof families

const epochRows = rowsOf(Schema.Struct({ epoch: Schema.BigInt }))
const ownerRows = rowsOf(Schema.Struct({ accountId: Schema.BigInt, epoch: Schema.BigInt }))
const responseRows = rowsOf(Schema.Struct({ epoch: Schema.BigInt, response: Schema.Unknown }))
const useRows = rowsOf(Schema.Struct({ statuses: Schema.Int, follows: Schema.Int, reports: Schema.Int }))

/** SQL of a statement that is a whole command (`Commands.runAsStatement`). */
export interface Recording {
  /** Selects a row if the owner is still current, and locks out takeovers until the commit. */
  readonly ownerRow: Fragment
  /**
   * Records that the command wrote the single row of `cte`, by its id; returns no row if the command was already done.
   */
  readonly recorded: (cte: string) => Fragment
}

/** Transactions of an account's owner; each checks the epoch in its first statement. */
export class Commands extends Context.Service<Commands, {
  /** Takes the account over; transactions of earlier owners fail afterwards. */
  readonly takeOver: (accountId: AccountId) => Effect.Effect<Owner, RecordNotFound | SqlError>
  /** Returns each family's uses by commands committed since its time in `since`, milliseconds since 1970. */
  readonly used: (
    accountId: AccountId,
    since: Readonly<Record<Family, number>>
  ) => Effect.Effect<Readonly<Record<Family, number>>, SqlError>
  /**
   * Runs `work` once for each id and stores its response in the same transaction; `family` is the rate limit that it
   * uses.
   */
  readonly runOnce: <E, R>(
    owner: Owner,
    id: string,
    family: Family | undefined,
    work: Effect.Effect<CommandResponse, E, R>
  ) => Effect.Effect<{ readonly response: CommandResponse; readonly repeated: boolean }, E | StaleOwner | SqlError, R>
  /**
   * Runs a statement that is a whole command and writes only through its `Recording`. The statement is a transaction of
   * its own, in its own session, because it may wait for locks. If it did nothing, `runOnce` finds out why.
   */
  readonly runAsStatement: <A, E, R>(
    owner: Owner,
    id: string,
    outcome: { readonly kind: CommandResponse["kind"]; readonly family: Family | undefined },
    statement: (recording: Recording) => Effect.Effect<A, E, R>
  ) => Effect.Effect<A, E | SqlError, R>
  /** Runs idempotent `work` in a transaction of the owner. */
  readonly owned: <A, E, R>(
    owner: Owner,
    work: Effect.Effect<A, E, R>
  ) => Effect.Effect<A, E | StaleOwner | SqlError, R>
  /** Locks out takeovers until the transaction ends; first statement of every transaction of the owner. */
  readonly lock: (owner: Owner) => Effect.Effect<void, StaleOwner | SqlError>
  /**
   * SQL for a statement that is its own transaction: selects a row if the owner is still current, and locks out
   * takeovers until the commit.
   */
  readonly ownerRow: (owner: Owner) => Fragment
  /** Deletes responses older than `commandMillisMin`, at most `rowsMax`; returns how many. */
  readonly sweep: (rowsMax: number) => Effect.Effect<number, SqlError>
}>()("murmuration/services/intents/Commands") {
  static readonly layer = Layer.effect(
    Commands,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient

      const takeOver = traced("Commands.takeOver")(function*(accountId: AccountId) {
        const rows = yield* epochRows(sql`
          UPDATE actors SET epoch = epoch + 1 WHERE account_id = ${accountId} RETURNING epoch`)
        if (rows[0] === undefined) return yield* new RecordNotFound()
        return { accountId, epoch: rows[0].epoch }
      })

      // FOR SHARE blocks a takeover's UPDATE until this transaction ends, but lets the owner's commands and fan-out
      // slices run concurrently.
      const runOnce = Effect.fnUntraced(function*<E, R>(
        owner: Owner,
        id: string,
        family: Family | undefined,
        work: Effect.Effect<CommandResponse, E, R>
      ) {
        const [found] = yield* responseRows(sql`
          SELECT a.epoch, c.answer AS response FROM actors a
          LEFT JOIN commands c ON c.account_id = a.account_id AND c.id = ${id}
          WHERE a.account_id = ${owner.accountId} FOR SHARE OF a`)
        if (found?.epoch !== owner.epoch) return yield* new StaleOwner()
        if (found.response !== null) {
          return { response: yield* PersistedResponse.decode(found.response), repeated: true }
        }
        const response = yield* work
        const now = new Date(yield* Clock.currentTimeMillis)
        yield* sql`INSERT INTO commands (account_id, id, answer, family, epoch, created_at)
          VALUES (${owner.accountId}, ${id}, ${yield* PersistedResponse.encode(response)}::jsonb, ${
          family ?? null
        }, ${owner.epoch}, ${now})`
        return { response, repeated: false }
      })

      /** Runs the statement in the open transaction, otherwise as a transaction of its own, in a reserved session. */
      const reserved = <A, E, R>(statement: Effect.Effect<A, E, R>) =>
        Effect.flatMap(
          Effect.serviceOption(sql.transactionService),
          ({ _tag: inside }): Effect.Effect<A, E | SqlError, R> =>
            inside === "Some" ? statement : Effect.scoped(Effect.flatMap(
              sql.reserve,
              (session) => Effect.provideService(statement, sql.transactionService, [session, 0])
            ))
        )
      const runAsStatement: Commands["Service"]["runAsStatement"] = Effect.fnUntraced(
        function*(owner, id, { family, kind }, statement) {
          const response = yield* PersistedResponse.encode({ id: "", kind })
          const now = new Date(yield* Clock.currentTimeMillis)
          return yield* reserved(statement({
            // Does not wait for a takeover: by the end of the wait, the client may have been told to retry.
            ownerRow: sql`${ownerRow(owner)} SKIP LOCKED`,
            recorded: (cte) =>
              sql`INSERT INTO commands (account_id, id, answer, family, epoch, created_at)
              SELECT ${owner.accountId}::bigint, ${id}::text, ${response}::jsonb || jsonb_build_object('id', ${
                sql.literal(cte)
              }.id::text), ${family ?? null}::text, ${owner.epoch}::bigint, ${now}::timestamptz FROM ${sql.literal(cte)}
              ON CONFLICT DO NOTHING RETURNING 1`
          }))
        }
      )

      const used = traced("Commands.used")(
        function*(accountId: AccountId, since: Readonly<Record<Family, number>>) {
          const uses = (family: Family) =>
            sql`(count(*) FILTER (WHERE family = ${family} AND created_at >= ${new Date(since[family])}))::int`
          return singleRow(
            yield* useRows(sql`SELECT ${uses("statuses")} AS statuses, ${uses("follows")} AS follows,
              ${uses("reports")} AS reports FROM commands
            WHERE account_id = ${accountId} AND created_at >= ${new Date(Math.min(...Object.values(since)))}`)
          )
        }
      )

      const epochOf = batched((owners: ReadonlyArray<Owner>) =>
        Effect.map(
          ownerRows(sql`SELECT account_id, epoch FROM actors
            WHERE account_id = ANY (${
            owners.map(({ accountId }) => accountId)
          }::bigint[]) ORDER BY account_id FOR SHARE`),
          (rows) => {
            const epochs = new Map(rows.map(({ accountId, epoch }) => [accountId, epoch]))
            return ({ accountId }: Owner) => epochs.get(accountId)
          }
        )
      )
      const lock = (owner: Owner) =>
        Effect.flatMap(
          epochOf(owner),
          (epoch): Effect.Effect<void, StaleOwner> =>
            epoch === owner.epoch ? Effect.void : Effect.fail(new StaleOwner())
        )

      const ownerRow = ({ accountId, epoch }: Owner) =>
        sql`SELECT FROM actors WHERE account_id = ${accountId} AND epoch = ${epoch} FOR SHARE`

      const sweep = traced("Commands.sweep")(function*(rowsMax: number) {
        const before = new Date((yield* Clock.currentTimeMillis) - commandMillisMin)
        const rows = yield* sql`
          DELETE FROM commands WHERE ctid = ANY (ARRAY(SELECT ctid FROM commands WHERE created_at < ${before} LIMIT ${rowsMax}))
          RETURNING 1`
        return rows.length
      })

      return Commands.of({
        takeOver,
        used,
        runOnce: (owner, id, family, work) => sql.withTransaction(runOnce(owner, id, family, work)),
        runAsStatement,
        owned: (owner, work) => sql.withTransaction(Effect.andThen(lock(owner), work)),
        lock,
        ownerRow,
        sweep
      })
    })
  )
}
