import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { rowsMax } from "../database/Paging.ts"
import { accountIdRows } from "../database/Rows.ts"
import { transaction } from "../database/Transactions.ts"
import { traced } from "../runtime/Traced.ts"
import {
  keptMillis,
  keptMillisOf,
  type Transfer,
  type TransferCounts,
  type TransferKind,
  transferKinds,
  unconfirmedMillisMax
} from "./Transfer.ts"
import { transferColumns, transferRows } from "./TransferRows.ts"

/** Lease of a claimed transfer, in milliseconds; every commit renews it. A step must commit within it. */
const leaseMillis = 120_000
/** Claims without a committed step after which a transfer fails. */
const triesMax = 10

/** Another node has claimed the transfer, or its owner cancelled it. Nothing was written. */
class LeaseLost extends Schema.TaggedError<LeaseLost>()("LeaseLost", {}) {}
export const isLeaseLost = Schema.is(LeaseLost)

/** Progress of a step. Counts are added to those of the transfer; absent fields are kept. */
interface Progress extends Partial<TransferCounts> {
  /** JSON of the place of the next step. */
  readonly cursor?: unknown
  /** New options, as JSON. */
  readonly options?: object
  /** True for work that an earlier claim did already: it renews the lease, and the tries are kept. */
  readonly repeated?: boolean
}

/**
 * The end of a transfer's step, or of the transfer. A transfer that ends `keepsSecrets` if its access to another server
 * could not be revoked yet.
 */
export type StepEnd =
  | { readonly _tag: "More" }
  /** The next step is due at this time, in milliseconds since 1970. */
  | { readonly _tag: "Later"; readonly dueAt: number }
  /** The plan is complete, and its owner must confirm it. */
  | { readonly _tag: "Unconfirmed" }
  | { readonly _tag: "Finished"; readonly keepsSecrets?: boolean }
  /** Ends the transfer as failed, for this reason. */
  | { readonly _tag: "Failed"; readonly problem: string; readonly keepsSecrets?: boolean }

/**
 * Queue of transfers: any node may run the next step of one. An account's transfers run one at a time, oldest first; one
 * that has begun goes on before an older one that was confirmed late. A claimed transfer carries its lease as `dueAt`,
 * which fences off earlier claims.
 */
export class TransferQueue extends Context.Service<TransferQueue, {
  /** Claims due transfers of these kinds, at most so many; of all kinds by default. */
  readonly claim: (
    transfersMax: number,
    kinds?: ReadonlyArray<TransferKind>
  ) => Effect.Effect<ReadonlyArray<Transfer>, SqlError>
  /**
   * Commits progress of a claimed transfer together with `write`, and renews the lease. Returns the transfer with its
   * new lease and counts.
   */
  readonly commit: <E = never>(
    claimed: Transfer,
    progress: Progress,
    write?: Effect.Effect<void, E | SqlError>
  ) => Effect.Effect<Transfer, E | LeaseLost | SqlError>
  /** Adds counts that are known only after the `write` of a commit, in its transaction. */
  readonly count: (id: bigint, counts: Partial<TransferCounts>) => Effect.Effect<void, SqlError>
  /** Returns a claimed transfer after a step: for the next one, or ended. */
  readonly release: (claimed: Transfer, end: StepEnd) => Effect.Effect<void, SqlError>
}>()("murmuration/services/transfers/TransferQueue") {
  static readonly layer = Layer.effect(
    TransferQueue,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const columns = sql.literal(transferColumns)
      const owned = ({ dueAt, id }: Transfer) => sql`id = ${id} AND state = 'in_progress' AND due_at = ${dueAt}`

      /** Due transfers of these kinds that nothing of their account precedes. */
      const due = (at: Date, kinds: ReadonlyArray<TransferKind>) =>
        sql`FROM transfers t JOIN accounts a ON a.id = t.account_id
          WHERE t.state IN ('scheduled', 'in_progress') AND t.due_at <= ${at} AND t.kind = ANY (${kinds})
            AND a.suspended_at IS NULL AND NOT EXISTS (SELECT FROM transfers o
              WHERE o.account_id = t.account_id AND o.state IN ('scheduled', 'in_progress')
                -- One in progress sorts before a scheduled one.
                AND (o.state, o.id) < (t.state, t.id))`

      const claim = traced("TransferQueue.claim")(function*(
        transfersMax: number,
        kinds: ReadonlyArray<TransferKind> = transferKinds
      ) {
        const now = yield* Clock.currentTimeMillis
        const at = new Date(now)
        yield* sql`UPDATE transfers SET state = 'failed', problem = 'interrupted', finished_at = ${at},
            expires_at = ${new Date(now + keptMillis)}
          WHERE state IN ('scheduled', 'in_progress') AND due_at <= ${at} AND tries >= ${triesMax}`
        const candidates = yield* accountIdRows(
          sql`SELECT t.account_id ${due(at, kinds)} ORDER BY t.due_at LIMIT ${rowsMax(sql, transfersMax)}`
        )
        if (candidates.length === 0) return []
        return yield* Effect.gen(function*() {
          // Another claim may hold an account. The later statement sees the commits of claims that held one before.
          const held = yield* accountIdRows(sql`SELECT given.account_id
            FROM unnest(${candidates.map(({ accountId }) => accountId)}::bigint[]) AS given (account_id)
            WHERE pg_try_advisory_xact_lock(hashtextextended('transfers of ' || given.account_id, 0))`)
          return yield* transferRows(sql`UPDATE transfers SET state = 'in_progress', tries = tries + 1,
              started_at = coalesce(started_at, ${at}), due_at = ${new Date(now + leaseMillis)}
            WHERE id IN (SELECT t.id ${due(at, kinds)}
                AND t.account_id = ANY (${held.map(({ accountId }) => accountId)}::bigint[])
              ORDER BY t.due_at LIMIT ${rowsMax(sql, transfersMax)} FOR UPDATE OF t SKIP LOCKED)
            RETURNING ${columns}`)
        }).pipe(transaction(sql))
      })

      const commit: TransferQueue["Service"]["commit"] = (claimed, progress, write) =>
        Effect.gen(function*() {
          const now = yield* Clock.currentTimeMillis
          const { added = 0, cursor, failed = 0, options, processed = 0, removed = 0, repeated = false, total = 0 } =
            progress
          const renewed = new Date(Math.max(now + leaseMillis, claimed.dueAt.getTime() + 1))
          const [row] = yield* transferRows(
            sql`UPDATE transfers SET tries = ${repeated ? sql`tries` : 0}, due_at = ${renewed},
              expires_at = greatest(expires_at, ${new Date(now + keptMillis)}),
              total = total + ${total}, processed = processed + ${processed}, added = added + ${added},
              removed = removed + ${removed}, failed = failed + ${failed},
              cursor = ${cursor === undefined ? sql`cursor` : sql`${JSON.stringify(cursor)}::jsonb`},
              options = ${options === undefined ? sql`options` : sql`${JSON.stringify(options)}::jsonb`}
            WHERE ${owned(claimed)} RETURNING ${columns}`
          )
          if (row === undefined) return yield* new LeaseLost()
          if (write !== undefined) yield* write
          return row
        }).pipe(transaction(sql), Effect.withSpan("TransferQueue.commit"))

      const count = traced("TransferQueue.count")((id: bigint, { added = 0, failed = 0 }: Partial<TransferCounts>) =>
        Effect.asVoid(sql`UPDATE transfers SET added = added + ${added}, failed = failed + ${failed} WHERE id = ${id}`)
      )

      const release = traced("TransferQueue.release")(function*(claimed: Transfer, end: StepEnd) {
        const now = yield* Clock.currentTimeMillis
        if (end._tag === "More" || end._tag === "Later") {
          const dueAt = end._tag === "More" ? now : Math.max(now, end.dueAt)
          yield* sql`UPDATE transfers SET due_at = ${new Date(dueAt)}, tries = 0 WHERE ${owned(claimed)}`
          return
        }
        if (end._tag === "Unconfirmed") {
          yield* sql`UPDATE transfers SET state = 'unconfirmed', tries = 0, expires_at = ${new Date(
            now + unconfirmedMillisMax
          )} WHERE ${owned(claimed)}`
          return
        }
        const [state, problem] = end._tag === "Finished" ? ["finished", null] : ["failed", end.problem]
        const options = sql.literal(end.keepsSecrets === true ? "options" : "options - 'secrets'")
        yield* sql`WITH ended AS (UPDATE transfers SET state = ${state}, problem = ${problem},
            options = ${options}, finished_at = ${new Date(now)}, expires_at = ${new Date(
          now + keptMillisOf(claimed.kind)
        )}
            WHERE ${owned(claimed)} RETURNING id)
          DELETE FROM transfer_lines l USING ended WHERE l.transfer_id = ended.id AND l.state <> 'failed'`
      })

      return TransferQueue.of({ claim, commit, count, release })
    })
  )
}
