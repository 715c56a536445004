import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import type { Fragment } from "effect/sql/Statement"
import { AccountId, StatusId } from "../database/Ids.ts"
import { accountIdRows, rowsOf, singleRow } from "../database/Rows.ts"
import { traced } from "../runtime/Traced.ts"
import * as ReadersQuery from "./ReadersQuery.ts"

/** Time since last seen after which an account has no feed, in milliseconds; the feed is rebuilt on return. */
export const seenMillisMax = 7 * 86_400_000

/**
 * Receivers of a status other than by a follow of its author: `lists` with the author or one of its hashtags, and
 * `readers` that follow such a hashtag. `cursor` is undefined after the last ones.
 */
interface Subscribers {
  readonly lists: ReadonlyArray<bigint>
  readonly readers: ReadonlyArray<AccountId>
  readonly cursor: bigint | undefined
}

/** Reads a status's subscriptions above `cursor`, `rowsMax` at most. */
type Asking<Result> = (
  author: AccountId,
  statusId: bigint,
  cursor: bigint,
  rowsMax: number
) => Effect.Effect<Result, SqlError>

export class StatusSubscribers extends Context.Service<StatusSubscribers, {
  /** Returns the subscriptions whose feed shows the status. Undefined if the status is deleted. */
  readonly page: Asking<(Subscribers & Pick<Subscriber, "statusId" | "reblogOfId">) | undefined>
  /** Returns the followers whose home leaves the status to an exclusive list. */
  readonly excluding: (
    statusId: bigint,
    followers: ReadonlyArray<AccountId>
  ) => Effect.Effect<ReadonlySet<bigint>, SqlError>
  /** Returns the subscriptions whose owner could see it, to retract a deleted status. */
  readonly ofDeleted: Asking<Subscribers>
}>()("murmuration/services/feeds/StatusSubscribers") {
  static readonly layer = Layer.effect(
    StatusSubscribers,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      return StatusSubscribers.of({
        page: traced("StatusSubscribers.page")(function*(author, status, cursor, limit) {
          const now = yield* Clock.currentTimeMillis
          const [since, at] = [new Date(now - seenMillisMax), new Date(now)]
          const [row] = yield* subscriberRows(sql`
            SELECT s.id AS status_id, s.reblog_of_id, others.* FROM statuses s CROSS JOIN LATERAL (${
            gathered(sql, ReadersQuery.subscribers(sql, { status, author, cursor, limit }, since, at))
          }) others WHERE s.id = ${status} AND s.deleted_at IS NULL`)
          return row && { statusId: row.statusId, reblogOfId: row.reblogOfId, ...subscribersOf(row, limit) }
        }),
        excluding: traced("StatusSubscribers.excluding")((statusId, followers) =>
          followers.length === 0
            ? Effect.succeed(new Set<bigint>())
            : Effect.map(
              accountIdRows(ReadersQuery.excluding(sql, statusId, followers)),
              (rows) => new Set<bigint>(rows.map(({ accountId }) => accountId))
            )
        ),
        ofDeleted: traced("StatusSubscribers.ofDeleted")((author, status, cursor, limit) =>
          Effect.map(
            gatheredRows(sql`${gathered(sql, ReadersQuery.subscribed(sql, { status, author, cursor, limit }))}`),
            (rows) => subscribersOf(singleRow(rows), limit)
          )
        )
      })
    })
  )
}

/** A slice of subscriptions: `asked` were read, `last` is the last one. */
const Gathered = Schema.Struct({
  lists: Schema.Array(Schema.BigInt),
  readers: Schema.Array(AccountId),
  asked: Schema.Int,
  last: Schema.NullOr(Schema.BigInt)
})
type Gathered = typeof Gathered.Type

const gatheredRows = rowsOf(Gathered)
const Subscriber = Schema.Struct({
  ...Gathered.fields,
  statusId: StatusId,
  reblogOfId: Schema.NullOr(Schema.BigInt)
})
type Subscriber = typeof Subscriber.Type
const subscriberRows = rowsOf(Subscriber)

/** Aggregates the rows of `subscriptions` into one row. */
const gathered = (sql: SqlClient.SqlClient, subscriptions: Fragment): Fragment =>
  sql`SELECT coalesce(array_agg(list_id) FILTER (WHERE list_id IS NOT NULL), '{}') AS lists,
      coalesce(array_agg(reader) FILTER (WHERE reader IS NOT NULL), '{}') AS readers,
      count(*)::int AS asked, max(id) AS last
    FROM (${subscriptions}) one`

const subscribersOf = ({ asked, last, lists, readers }: Gathered, rowsMax: number): Subscribers => ({
  lists,
  readers,
  cursor: asked < rowsMax ? undefined : last ?? undefined
})
