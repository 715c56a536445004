import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { rowsMax } from "../../database/Paging.ts"
import { rowsOf, Timestamptz } from "../../database/Rows.ts"
import * as RowChanges from "../../events/RowChanges.ts"
import { traced } from "../../runtime/Traced.ts"

/** Maximum follows ended per transaction, and maximum accounts notified. */
const severedRowsMax = 1_000

type SeveranceType = "domain_block" | "user_domain_block" | "account_suspension"

/** Cause of the ended follows, and the target that is shown for it. */
interface Cause {
  readonly id: bigint
  readonly type: SeveranceType
  readonly targetName: string
}

/**
 * Follows that one account lost to a cause: `followersCount` followers, and `followingCount` accounts that it followed.
 */
export const SeveranceRecord = Schema.Struct({
  id: Schema.BigInt,
  type: Schema.Literals(["domain_block", "user_domain_block", "account_suspension"]),
  targetName: Schema.String,
  followersCount: Schema.Int,
  followingCount: Schema.Int,
  createdAt: Timestamptz
})
export type SeveranceRecord = typeof SeveranceRecord.Type
const severanceRecordRows = rowsOf(SeveranceRecord)

const endedRows = rowsOf(Schema.Struct({ accountId: Schema.BigInt, targetAccountId: Schema.BigInt }))
const eventRows = rowsOf(Schema.Struct({ id: Schema.BigInt, accountId: Schema.BigInt }))

/**
 * Follows that end by a decision about a whole server, and the accounts that lost them (RelationshipSeveranceEvent).
 */
export class Severances extends Context.Service<Severances, {
  /**
   * Ends follows and follow requests between `accountIds` and local accounts, at most `severedRowsMax` of each in the
   * current transaction. Returns the local accounts that lost follows, and whether all were ended.
   */
  readonly sever: (
    cause: Cause,
    accountIds: ReadonlyArray<bigint>
  ) => Effect.Effect<{ readonly losers: ReadonlyArray<bigint>; readonly all: boolean }, SqlError>
  /** Records losses of local accounts in the current transaction. Adds to earlier losses with the same cause. */
  readonly record: (
    cause: Cause,
    lost: ReadonlyMap<bigint, { readonly followers: number; readonly following: number }>,
    now: number
  ) => Effect.Effect<void, SqlError>
  /** Returns events of a cause with ids above `after`, and their accounts; `last` is set if there may be more. */
  readonly of: (
    causeId: bigint,
    after: bigint
  ) => Effect.Effect<
    {
      readonly events: ReadonlyArray<{ readonly id: bigint; readonly accountId: bigint }>
      readonly last: bigint | undefined
    },
    SqlError
  >
  /** Returns records by id. */
  readonly load: (ids: ReadonlyArray<bigint>) => Effect.Effect<ReadonlyMap<bigint, SeveranceRecord>>
}>()("murmuration/services/federation/domains/Severances") {
  static readonly layer = Layer.effect(
    Severances,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const tracked = yield* RowChanges.make

      const sever: Severances["Service"]["sever"] = traced("Severances.sever")(function*(cause, accountIds) {
        if (accountIds.length === 0) return { losers: [], all: true }
        const now = yield* Clock.currentTimeMillis
        const both =
          sql`account_id = ANY (${accountIds}::bigint[]) OR target_account_id = ANY (${accountIds}::bigint[])`
        const most = rowsMax(sql, severedRowsMax)
        const requests = yield* tracked("relations", accountIds)(sql`DELETE FROM follow_requests WHERE id IN (
          SELECT id FROM follow_requests WHERE ${both} LIMIT ${most}) RETURNING id`)
        const follows = yield* tracked(
          "relations",
          (rows: ReadonlyArray<{ readonly accountId: bigint; readonly targetAccountId: bigint }>) =>
            rows.flatMap((row) => [row.accountId, row.targetAccountId])
        )(endedRows(sql`DELETE FROM follows WHERE id IN (
          SELECT id FROM follows WHERE ${both} LIMIT ${most}) RETURNING account_id, target_account_id`))
        yield* sql`DELETE FROM list_accounts WHERE account_id = ANY (${accountIds}::bigint[])`
        yield* tracked("relations", accountIds)(
          sql`DELETE FROM endorsements WHERE target_account_id = ANY (${accountIds}::bigint[])`
        )
        const severed = new Set(accountIds)
        const lost = new Map<bigint, { followers: number; following: number }>()
        const figures = new Map<bigint, { followers: number; following: number }>()
        const add = (to: typeof lost, id: bigint, side: "followers" | "following") => {
          const entry = to.get(id) ?? { followers: 0, following: 0 }
          entry[side]++
          to.set(id, entry)
        }
        for (const { accountId, targetAccountId } of follows) {
          add(figures, accountId, "following")
          add(figures, targetAccountId, "followers")
          if (!severed.has(accountId)) add(lost, accountId, "following")
          if (!severed.has(targetAccountId)) add(lost, targetAccountId, "followers")
        }
        yield* record(cause, lost, now)
        yield* count(figures)
        return {
          losers: [...lost.keys()],
          all: requests.length < severedRowsMax && follows.length < severedRowsMax
        }
      })

      type Figures = ReadonlyMap<bigint, { readonly followers: number; readonly following: number }>
      const columns = (figures: Figures) => {
        const rows = [...figures].toSorted(([a], [b]) => a < b ? -1 : 1)
        return sql`unnest(${rows.map(([id]) => id)}::bigint[], ${rows.map(([, { followers }]) => followers)}::int[],
          ${rows.map(([, { following }]) => following)}::int[]) AS given (account_id, followers, following)`
      }

      const record = (cause: Cause, lost: Figures, now: number) =>
        lost.size === 0 ? Effect.void : Effect.asVoid(sql`
          INSERT INTO severances (id, account_id, cause_id, type, target_name, followers_count, following_count, created_at)
          SELECT next_id(${now}), a.id, ${cause.id}, ${cause.type}, ${cause.targetName}, followers, following, ${new Date(
          now
        )} FROM ${columns(lost)} JOIN accounts a ON a.id = given.account_id AND a.domain IS NULL
          ON CONFLICT (account_id, cause_id) DO UPDATE SET
            followers_count = severances.followers_count + EXCLUDED.followers_count,
            following_count = severances.following_count + EXCLUDED.following_count`)

      /** Locks rows in the order of ids, like every other change of counters, to avoid deadlocks. */
      const count = Effect.fnUntraced(function*(figures: Figures) {
        if (figures.size === 0) return
        yield* sql`SELECT FROM account_stats WHERE account_id = ANY (${[...figures.keys()]}::bigint[])
          ORDER BY account_id FOR UPDATE`
        yield* tracked("account", figures.keys())(
          sql`UPDATE account_stats SET followers_count = followers_count - followers,
          following_count = following_count - following FROM ${columns(figures)}
          WHERE account_stats.account_id = given.account_id`
        )
      })

      const of = traced("Severances.of")(function*(causeId: bigint, after: bigint) {
        const events = yield* eventRows(sql`SELECT id, account_id FROM severances
          WHERE cause_id = ${causeId} AND id > ${after} ORDER BY id LIMIT ${rowsMax(sql, severedRowsMax)}`)
        return { events, last: events.length < severedRowsMax ? undefined : events.at(-1)?.id }
      })

      return Severances.of({
        sever,
        record,
        of,
        load: traced("Severances.load")(function*(ids) {
          if (ids.length === 0) return new Map()
          const rows = yield* severanceRecordRows(sql`SELECT id, type, target_name, followers_count, following_count,
            created_at FROM severances WHERE id = ANY (${ids}::bigint[])`)
          return new Map(rows.map((row) => [row.id, row]))
        }, Effect.orDie)
      })
    })
  )
}
