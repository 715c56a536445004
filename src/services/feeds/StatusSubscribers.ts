import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import type { Fragment } from "effect/sql/Statement"
import { AccountId, StatusId } from "../Ids.ts"
import { accountIdRows, only, rowsOf } from "../Rows.ts"
import { traced } from "../Traced.ts"
import * as ReadersQuery from "./ReadersQuery.ts"

/** Accounts that were not seen for that long have no feeds; a feed is made anew when they return. */
export const seenMillisMax = 7 * 86_400_000

/**
 * Who gets a status by another way than a follow of its author: `lists` with the author or one of its hashtags, and `readers`
 * who follow such a hashtag. `cursor` is undefined after the last ones.
 */
interface Subscribers {
  readonly lists: ReadonlyArray<bigint>
  readonly readers: ReadonlyArray<AccountId>
  readonly cursor: bigint | undefined
}

/** Asks for those of a status with subscriptions above `cursor`, `rowsMax` at most. */
type Asking<Answer> = (
  author: AccountId,
  statusId: bigint,
  cursor: bigint,
  rowsMax: number
) => Effect.Effect<Answer, SqlError>

export class StatusSubscribers extends Context.Service<StatusSubscribers, {
  /** Those whose feed takes the status. Undefined for a status that is deleted by now. */
  readonly page: Asking<(Subscribers & Pick<Told, "statusId" | "reblogOfId">) | undefined>
  /** Those of the followers whose homes leave it to an exclusive list. */
  readonly excluding: (
    statusId: bigint,
    followers: ReadonlyArray<AccountId>
  ) => Effect.Effect<ReadonlySet<bigint>, SqlError>
  /** Those who could see it, for taking a deleted status back. */
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
          const [row] = yield* toldRows(sql`
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
            (rows) => subscribersOf(only(rows), limit)
          )
        )
      })
    })
  )
}

/** A slice of subscriptions: `asked` were looked at, the last of which is `last`. */
const Gathered = Schema.Struct({
  lists: Schema.Array(Schema.BigInt),
  readers: Schema.Array(AccountId),
  asked: Schema.Int,
  last: Schema.NullOr(Schema.BigInt)
})
type Gathered = typeof Gathered.Type

const gatheredRows = rowsOf(Gathered)
const Told = Schema.Struct({
  ...Gathered.fields,
  statusId: StatusId,
  reblogOfId: Schema.NullOr(Schema.BigInt)
})
type Told = typeof Told.Type
const toldRows = rowsOf(Told)

/** The rows of `subscribers` as one row. */
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
