import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import type { Fragment, Statement } from "effect/sql/Statement"
import { batchRequestsOrSingle } from "../database/Batches.ts"
import type { AccountId } from "../database/Ids.ts"
import { accountIdRows, idRows, nullable, required, rowsOf, singleRow, Timestamptz } from "../database/Rows.ts"
import { atCommit } from "../database/TransactionBatch.ts"
import { traced } from "../runtime/Traced.ts"
import { currentTraceParent, TraceParent } from "../runtime/TraceParents.ts"
import type { Owner } from "./Commands.ts"
import { fromColumns, type Intent, IntentColumns, toColumns } from "./Intent.ts"
import { Wakes } from "./Wakes.ts"

/** Progress of an intent: `phase`, and `cursor`, the id of the last follow that was served. */
export interface Progress {
  readonly id: bigint
  readonly phase: number
  readonly cursor: bigint
}

/** A stored intent with its progress. */
export interface Fanout<Kind extends Intent = Intent> extends Progress {
  readonly intent: Kind
  readonly traceParent: TraceParent
}

/** Another worker did the slice in the meantime; the transaction must be rolled back and nothing published. */
export class StaleProgress extends Schema.TaggedError<StaleProgress>()("StaleProgress", {}) {}

/** Returns an intent without progress. */
export const withoutProgress = <Kind extends Intent>(
  id: bigint,
  intent: Kind,
  traceParent: TraceParent
): Fanout<Kind> => ({
  id,
  intent,
  traceParent,
  phase: 0,
  cursor: 0n
})

/** A finished intent and its owner. */
export interface Completion {
  readonly id: bigint
  readonly owner: Owner
}
/** Maximum intents that one statement completes. */
export const completionsMax = 100

interface Enqueued {
  readonly accountId: AccountId
  readonly intent: Intent
  readonly traceParent: TraceParent
  readonly onWritten: ((fanout: Fanout) => void) | undefined
}

/** Maximum intents in one round, oldest first; each runs one slice per round. */
export const fanoutsRoundMax = 16

/** Returns a statement that completes intents; it returns a row for each whose owner is still current. */
export const completing = (sql: SqlClient.SqlClient, completions: ReadonlyArray<Completion>) =>
  sql`DELETE FROM fanouts f USING (SELECT c.id FROM unnest(
      ${completions.map(({ id }) => id)}::bigint[], ${completions.map(({ owner }) => owner.accountId)}::bigint[],
      ${completions.map(({ owner }) => owner.epoch)}::bigint[]) AS c (id, account_id, epoch)
    JOIN actors a ON a.account_id = c.account_id AND a.epoch = c.epoch FOR SHARE OF a) owned
    WHERE f.id = owned.id RETURNING f.id`

const fanoutRows = rowsOf(
  Schema.Struct({
    ...IntentColumns.fields,
    id: Schema.BigInt,
    phase: Schema.Int,
    cursor: Schema.BigInt,
    traceParent: TraceParent
  })
)
const placedRows = rowsOf(Schema.Struct({ id: Schema.BigInt, place: Schema.Int }))
const backlogRows = rowsOf(Schema.Struct({ count: Schema.Int, oldest: Schema.NullOr(Timestamptz) }))

/** Fan-outs of accounts: at least once, each in the order of its slices, by its account's owner. */
export class Fanouts extends Context.Service<Fanouts, {
  /**
   * Writes an intent in the current transaction, at its end at the latest, and passes it to `onWritten`. It is needed only
   * after the commit; without `onWritten`, the account's actor is woken then.
   */
  readonly enqueue: (
    accountId: AccountId,
    intent: Intent,
    wrote?: (fanout: Fanout) => void
  ) => Effect.Effect<void, SqlError>
  /** Returns the account's oldest intents, for its owner; intents unknown to this version are kept. */
  readonly claim: (accountId: AccountId) => Effect.Effect<ReadonlyArray<Fanout>, SqlError>
  /**
   * Stores the progress of a fan-out, in the current transaction; fails if another worker has advanced it. Returns true
   * if the fan-out is complete.
   */
  readonly advance: (from: Progress, phase: number, cursor: bigint) => Effect.Effect<false, StaleProgress | SqlError>
  readonly complete: (from: Progress) => Effect.Effect<true, StaleProgress | SqlError>
  /** Returns true if an earlier intent of this kind about the same subject is still being fanned out. */
  readonly waits: (
    accountId: AccountId,
    fanoutId: bigint,
    earlier: "publish" | "deliver",
    statusId: bigint | null
  ) => Effect.Effect<boolean, SqlError>
  /** Deletes an intent that the current transaction wrote. */
  readonly cancel: (fanout: Pick<Fanout, "id">) => Effect.Effect<void, SqlError>
  /** Returns a statement that completes an intent if `Commands.ownerRow` allows it, and returns a row if so. */
  readonly completing: (id: bigint, ownerRow: Fragment) => Fragment
  /**
   * Completes an intent outside of transactions; false if the owner was fenced off. Concurrent calls share a statement.
   */
  readonly completeAlone: (completion: Completion) => Effect.Effect<boolean, SqlError>
  /** Returns accounts with intents older than `millis`: their owner died or lost its wake-up. */
  readonly due: (millis: number, accountsMax: number) => Effect.Effect<ReadonlyArray<AccountId>, SqlError>
  /** Number of waiting intents, and the age of the oldest in milliseconds. */
  readonly backlog: Effect.Effect<{ readonly count: number; readonly oldestMillis: number }, SqlError>
}>()("murmuration/services/intents/Fanouts") {
  static readonly layer = Layer.effect(
    Fanouts,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const wakes = yield* Wakes

      // Ids are generated first, to match them with their intents.
      const enqueue = atCommit(Effect.fnUntraced(function*(all: ReadonlyArray<Enqueued>) {
        const now = yield* Clock.currentTimeMillis
        const columns = all.map(({ intent }) => toColumns(intent))
        const rows = yield* placedRows(sql`
          WITH given AS MATERIALIZED (SELECT next_id(${now}) AS id, g.* FROM unnest(
            ${all.map(({ accountId }) => accountId)}::bigint[], ${columns.map(({ kind }) => kind)}::text[],
            ${nullable(columns.map(({ statusId }) => statusId))}::bigint[],
            ${nullable(columns.map(({ details }) => details))}::text[],
            ${nullable(all.map(({ traceParent }) => traceParent))}::text[])
            WITH ORDINALITY AS g (account_id, kind, status_id, details, trace_parent, place)),
          made AS (INSERT INTO fanouts (id, account_id, kind, status_id, details, created_at, trace_parent)
            SELECT id, account_id, kind, status_id, details::jsonb, ${new Date(now)}, trace_parent FROM given)
          SELECT id, place::int FROM given`)
        const ids = new Map(rows.map(({ id, place }) => [place - 1, id]))
        yield* Effect.forEach(all, ({ accountId, intent, onWritten, traceParent }, at) => {
          if (onWritten === undefined) return wakes.wake(accountId)
          onWritten(withoutProgress(required(ids.get(at)), intent, traceParent))
          return Effect.void
        }, { discard: true })
      }))

      const claimed = (
        { cursor, id, phase, traceParent, ...columns }: Effect.Success<ReturnType<typeof fanoutRows>>[number]
      ) =>
        fromColumns(columns).pipe(
          Effect.map((intent): Fanout => ({ id, intent, phase, cursor, traceParent })),
          Effect.catchTag(
            "SchemaError",
            (error) =>
              Effect.as(
                Effect.logError(`intent ${id} is of a kind unknown to this version and was kept`, error.message),
                undefined
              )
          )
        )

      const completeAlone = batchRequestsOrSingle(
        { max: completionsMax },
        (completions: ReadonlyArray<Completion>) =>
          Effect.map(idRows(completing(sql, completions)), (rows) => {
            const completed = new Set(rows.map(({ id }) => id))
            return ({ id }: Completion) => completed.has(id)
          })
      )

      const hasProgress = ({ cursor, id, phase }: Progress) =>
        sql`id = ${id} AND phase = ${phase} AND cursor = ${cursor}`
      const moved = <Over extends boolean>(over: Over, statement: Statement<unknown>) =>
        Effect.flatMap(
          statement,
          (rows): Effect.Effect<Over, StaleProgress> =>
            rows.length > 0 ? Effect.succeed(over) : Effect.fail(new StaleProgress())
        )

      return Fanouts.of({
        enqueue: traced("Fanouts.enqueue")((accountId, intent, onWritten) =>
          Effect.flatMap(currentTraceParent, (traceParent) => enqueue({ accountId, intent, onWritten, traceParent }))
        ),
        claim: traced("Fanouts.claim")(function*(accountId) {
          const rows = yield* fanoutRows(
            sql`SELECT id, kind, status_id, details, phase, cursor, trace_parent FROM fanouts
            WHERE account_id = ${accountId} ORDER BY id LIMIT ${fanoutsRoundMax}`
          )
          return (yield* Effect.forEach(rows, claimed)).filter((fanout) => fanout !== undefined)
        }),
        advance: traced("Fanouts.advance")((from, phase, cursor) =>
          moved(
            false,
            sql`UPDATE fanouts SET phase = ${phase}, cursor = ${cursor} WHERE ${hasProgress(from)} RETURNING id`
          )
        ),
        complete: traced("Fanouts.complete")((from) =>
          moved(true, sql`DELETE FROM fanouts WHERE ${hasProgress(from)} RETURNING id`)
        ),
        waits: traced("Fanouts.waits")((accountId, fanoutId, earlier, statusId) =>
          Effect.map(
            sql`SELECT FROM fanouts WHERE account_id = ${accountId} AND id < ${fanoutId} AND kind = ${
              sql.literal(`'${earlier}'`)
            }
              AND status_id IS NOT DISTINCT FROM ${statusId}::bigint LIMIT 1`,
            (rows) => rows.length > 0
          )
        ),
        cancel: traced("Fanouts.cancel")(({ id }) => Effect.asVoid(sql`DELETE FROM fanouts WHERE id = ${id}`)),
        completing: (id, ownerRow) =>
          sql`WITH owner_row AS MATERIALIZED (${ownerRow})
            DELETE FROM fanouts WHERE id = ${id} AND EXISTS (SELECT FROM owner_row) RETURNING id`,
        completeAlone: traced("Fanouts.completeAlone")((one) => completeAlone(one)),
        due: traced("Fanouts.due")(function*(millis, accountsMax) {
          const before = new Date((yield* Clock.currentTimeMillis) - millis)
          const rows = yield* accountIdRows(sql`
            SELECT DISTINCT account_id FROM fanouts WHERE created_at < ${before} LIMIT ${accountsMax}`)
          return rows.map(({ accountId }) => accountId)
        }),
        backlog: Effect.gen(function*() {
          const now = yield* Clock.currentTimeMillis
          const { count, oldest } = singleRow(
            yield* backlogRows(sql`SELECT count(*)::int AS count, min(created_at) AS oldest FROM fanouts`)
          )
          return { count, oldestMillis: oldest === null ? 0 : now - oldest.getTime() }
        })
      })
    })
  ).pipe(Layer.provide(Wakes.layer))
}
