import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import type { Fragment } from "effect/sql/Statement"
import { RecordNotFound } from "../Errors.ts"
import type { AccountId } from "../Ids.ts"
import { persisted } from "../Persisted.ts"
import { only, rowsOf } from "../Rows.ts"
import { traced } from "../Traced.ts"
import { batched } from "../TransactionBatch.ts"

/** The right to write what an account does: the node that activated the account last has the highest epoch. */
export interface Owner {
  readonly accountId: AccountId
  readonly epoch: bigint
}

/** Another node owns the account by now; nothing was written. */
export class StaleOwner extends Schema.TaggedError<StaleOwner>()("StaleOwner", {}) {}

/**
 * What a command answers: the id of what it made or changed, as a decimal string, and the limit that it used. `refused` by a rule
 * against spam, whose id it is: the refusal is written down, as a failure could not be.
 */
export const CommandAnswer = Schema.Struct({
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
  /** A status that nobody knows of yet, and that answers none. */
  isNew: Schema.optionalKey(Schema.Literal(true)),
  standing: Schema.optionalKey(
    Schema.Struct({ limit: Schema.Int, remaining: Schema.Int, resetAt: Schema.Int })
  )
})
export type CommandAnswer = typeof CommandAnswer.Type
/** As it is remembered under its command's id. */
export const PersistedAnswer = persisted(CommandAnswer, 1)

/** How long an answer is kept under its command's id, in milliseconds: longer than the longest family's period. */
const commandMillisMin = 25 * 3_600_000

/** Limits of what an account does, aligned to the clock (limits-and-rates.md section 3). */
export const families = {
  statuses: { uses: 300, seconds: 3 * 3600 },
  follows: { uses: 400, seconds: 24 * 3600 },
  reports: { uses: 400, seconds: 24 * 3600 }
}
export type Family = keyof typeof families

const epochRows = rowsOf(Schema.Struct({ epoch: Schema.BigInt }))
const ownerRows = rowsOf(Schema.Struct({ accountId: Schema.BigInt, epoch: Schema.BigInt }))
const answerRows = rowsOf(Schema.Struct({ epoch: Schema.BigInt, answer: Schema.Unknown }))
const useRows = rowsOf(Schema.Struct({ statuses: Schema.Int, follows: Schema.Int, reports: Schema.Int }))

/** What a statement begins with that is a command by itself (`Commands.alone`). */
export interface Recording {
  /** A row where the owner still is the owner, who stays so until the statement is committed. */
  readonly ownerRow: Fragment
  /** Records that the command made the one row of `made`, by its id; it gives no row where the command was done before. */
  readonly recorded: (made: string) => Fragment
}

/** The transactions of an account's owner: every one checks the epoch in its first statement. */
export class Commands extends Context.Service<Commands, {
  /** Becomes the owner. Transactions of an earlier owner fail from now on. */
  readonly takeOver: (accountId: AccountId) => Effect.Effect<Owner, RecordNotFound | SqlError>
  /** Uses of each family by commands that committed since its time in `since`, milliseconds since 1970. */
  readonly used: (
    accountId: AccountId,
    since: Readonly<Record<Family, number>>
  ) => Effect.Effect<Readonly<Record<Family, number>>, SqlError>
  /** Does `work` once for each id and remembers its answer in the same transaction; `family` is the limit it uses. */
  readonly once: <E, R>(
    owner: Owner,
    id: string,
    family: Family | undefined,
    work: Effect.Effect<CommandAnswer, E, R>
  ) => Effect.Effect<{ readonly answer: CommandAnswer; readonly repeated: boolean }, E | StaleOwner | SqlError, R>
  /**
   * Runs a statement that is all of a command and changes nothing but by way of its `Recording`: a transaction by itself, in a
   * session of its own, as it may wait for others. Where it did nothing, `once` tells why.
   */
  readonly alone: <A, E, R>(
    owner: Owner,
    id: string,
    made: { readonly kind: CommandAnswer["kind"]; readonly family: Family | undefined },
    statement: (recording: Recording) => Effect.Effect<A, E, R>
  ) => Effect.Effect<A, E | SqlError, R>
  /** Does `work`, which may come again, in a transaction of the owner. */
  readonly owned: <A, E, R>(
    owner: Owner,
    work: Effect.Effect<A, E, R>
  ) => Effect.Effect<A, E | StaleOwner | SqlError, R>
  /** What every transaction of the owner begins with: nobody takes over before it is over. */
  readonly lock: (owner: Owner) => Effect.Effect<void, StaleOwner | SqlError>
  /**
   * What a statement asks that is a transaction of its own: a row where the owner still is the owner, who stays so until
   * the statement is committed.
   */
  readonly ownerRow: (owner: Owner) => Fragment
  /** Forgets answers that are older than a day; at most `rowsMax` rows. Answers how many. */
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

      // FOR SHARE holds off the UPDATE of a takeover until this transaction is over. It lets the same owner's commands
      // and fan-out slices run side by side.
      const once = Effect.fnUntraced(function*<E, R>(
        owner: Owner,
        id: string,
        family: Family | undefined,
        work: Effect.Effect<CommandAnswer, E, R>
      ) {
        const [found] = yield* answerRows(sql`
          SELECT a.epoch, c.answer FROM actors a
          LEFT JOIN commands c ON c.account_id = a.account_id AND c.id = ${id}
          WHERE a.account_id = ${owner.accountId} FOR SHARE OF a`)
        if (found?.epoch !== owner.epoch) return yield* new StaleOwner()
        if (found.answer !== null) return { answer: yield* PersistedAnswer.decode(found.answer), repeated: true }
        const answer = yield* work
        const now = new Date(yield* Clock.currentTimeMillis)
        yield* sql`INSERT INTO commands (account_id, id, answer, family, epoch, created_at)
          VALUES (${owner.accountId}, ${id}, ${yield* PersistedAnswer.encode(answer)}::jsonb, ${
          family ?? null
        }, ${owner.epoch}, ${now})`
        return { answer, repeated: false }
      })

      /** In the transaction that is open, or none. */
      const reserved = <A, E, R>(statement: Effect.Effect<A, E, R>) =>
        Effect.flatMap(
          Effect.serviceOption(sql.transactionService),
          ({ _tag: inside }): Effect.Effect<A, E | SqlError, R> =>
            inside === "Some" ? statement : Effect.scoped(Effect.flatMap(
              sql.reserve,
              (session) => Effect.provideService(statement, sql.transactionService, [session, 0])
            ))
        )
      const alone: Commands["Service"]["alone"] = Effect.fnUntraced(function*(owner, id, { family, kind }, statement) {
        const answer = yield* PersistedAnswer.encode({ id: "", kind })
        const now = new Date(yield* Clock.currentTimeMillis)
        return yield* reserved(statement({
          // Whoever takes over is not waited for: that takes time, after which a client may have been told to come back.
          ownerRow: sql`${ownerRow(owner)} SKIP LOCKED`,
          recorded: (made) =>
            sql`INSERT INTO commands (account_id, id, answer, family, epoch, created_at)
              SELECT ${owner.accountId}::bigint, ${id}::text, ${answer}::jsonb || jsonb_build_object('id', ${
              sql.literal(made)
            }.id::text), ${family ?? null}::text, ${owner.epoch}::bigint, ${now}::timestamptz FROM ${sql.literal(made)}
              ON CONFLICT DO NOTHING RETURNING 1`
        }))
      })

      const used = traced("Commands.used")(
        function*(accountId: AccountId, since: Readonly<Record<Family, number>>) {
          const uses = (family: Family) =>
            sql`(count(*) FILTER (WHERE family = ${family} AND created_at >= ${new Date(since[family])}))::int`
          return only(
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
        once: (owner, id, family, work) => sql.withTransaction(once(owner, id, family, work)),
        alone,
        owned: (owner, work) => sql.withTransaction(Effect.andThen(lock(owner), work)),
        lock,
        ownerRow,
        sweep
      })
    })
  )
}
