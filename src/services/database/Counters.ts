import { Clock, Effect } from "effect"
import type { SqlClient } from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import { traced } from "../runtime/Traced.ts"
import type { RowWriter } from "./CachedTables.ts"
import { nullable } from "./Rows.ts"
import { atCommit } from "./TransactionBatch.ts"

/** Changes of an account's counters, made only with a row that was really inserted or deleted. */
interface AccountChange {
  readonly accountId: bigint
  readonly followers?: number
  readonly following?: number
  readonly statuses?: number
}

/** Changes of a status's counters. */
interface StatusChange {
  readonly statusId: bigint
  readonly replies?: number
  readonly reblogs?: number
  readonly favourites?: number
  readonly quotes?: number
  /** Change of one emoji reaction. */
  readonly reaction?: ReactionChange
}

interface ReactionChange {
  readonly name: string
  /** Id of the custom emoji; null for a Unicode emoji. */
  readonly emojiId: bigint | null
  readonly by: 1 | -1
}

/**
 * Returns the statement that changes an account's counters; `lastStatusAt` is the time of the new status if `statuses`
 * grows.
 */
export const accountUpdate = (sql: SqlClient, change: AccountChange, lastStatusAt: Date | null = null) =>
  sql`UPDATE account_stats SET
        followers_count = followers_count + ${change.followers ?? 0},
        following_count = following_count + ${change.following ?? 0},
        statuses_count = statuses_count + ${change.statuses ?? 0},
        last_status_at = CASE WHEN ${
    change.statuses ?? 0
  }::int > 0 THEN coalesce(${lastStatusAt}, last_status_at) ELSE last_status_at END
      WHERE account_id = ${change.accountId}`

/** Returns the statement that changes counters of statuses; locks them in id order. */
const ofStatuses = ({ sql, tracked }: RowWriter, changes: ReadonlyArray<StatusChange>) => {
  const ids = changes.map(({ statusId }) => statusId)
  return tracked("status", ids)(sql`WITH locked AS MATERIALIZED (
      SELECT status_id FROM status_stats WHERE status_id = ANY (${ids}::bigint[]) ORDER BY status_id FOR NO KEY UPDATE)
    UPDATE status_stats s SET replies_count = s.replies_count + c.replies, reblogs_count = s.reblogs_count + c.reblogs,
      favourites_count = s.favourites_count + c.favourites, stated_reblogs = s.stated_reblogs + c.reblogs,
      stated_favourites = s.stated_favourites + c.favourites, quotes_count = s.quotes_count + c.quotes,
      reactions_count = s.reactions_count + c.reactions
    FROM locked JOIN (SELECT status_id, sum(replies)::int AS replies, sum(reblogs)::int AS reblogs,
        sum(favourites)::int AS favourites, sum(quotes)::int AS quotes,
        sum(reactions)::int AS reactions
      FROM unnest(${ids}::bigint[], ${changes.map(({ replies = 0 }) => replies)}::int[],
        ${changes.map(({ reblogs = 0 }) => reblogs)}::int[], ${changes.map(({ favourites = 0 }) => favourites)}::int[],
        ${changes.map(({ quotes = 0 }) => quotes)}::int[], ${changes.map(({ reaction }) => reaction?.by ?? 0)}::int[])
        AS given (status_id, replies, reblogs, favourites, quotes, reactions) GROUP BY status_id) c ON c.status_id = locked.status_id
    WHERE s.status_id = locked.status_id`)
}

/** Changes the counts of emoji reactions, in the order of statuses and names; deletes counts that reach 0. */
const ofReactions = Effect.fnUntraced(function*({ sql, tracked }: RowWriter, changes: ReadonlyArray<StatusChange>) {
  const changed = changes.flatMap(({ reaction, statusId }) => reaction === undefined ? [] : [{ ...reaction, statusId }])
  if (changed.length === 0) return
  yield* tracked("status", changed.map(({ statusId }) => statusId))(
    sql`INSERT INTO emoji_reaction_counts AS c (id, status_id, name, custom_emoji_id, count)
    SELECT next_id(${yield* Clock.currentTimeMillis}), given.* FROM (
      SELECT status_id, name, emoji_id, sum(by)::int AS count
      FROM unnest(${changed.map(({ statusId }) => statusId)}::bigint[], ${changed.map(({ name }) => name)}::text[],
        ${nullable(changed.map(({ emojiId }) => emojiId))}::bigint[], ${changed.map(({ by }) => by)}::int[])
        AS one (status_id, name, emoji_id, by) GROUP BY status_id, name, emoji_id ORDER BY status_id, name, emoji_id) given
    ON CONFLICT (status_id, name, coalesce(custom_emoji_id, 0)) DO UPDATE SET count = c.count + excluded.count`
  )
  if (changed.every(({ by }) => by > 0)) return
  yield* tracked("status", changed.map(({ statusId }) => statusId))(
    sql`DELETE FROM emoji_reaction_counts WHERE count <= 0
    AND status_id = ANY (${changed.map(({ statusId }) => statusId)}::bigint[])`
  )
})

/**
 * Returns the statement that changes counters of accounts; locks them in id order. `at` is the time of an account's new
 * status.
 */
const ofAccounts = (
  { sql, tracked }: RowWriter,
  changes: ReadonlyArray<AccountChange & { readonly at: Date | null }>
) => {
  const ids = changes.map(({ accountId }) => accountId)
  return tracked("account", ids)(sql`WITH locked AS MATERIALIZED (
      SELECT account_id FROM account_stats WHERE account_id = ANY (${ids}::bigint[]) ORDER BY account_id FOR NO KEY UPDATE)
    UPDATE account_stats s SET followers_count = s.followers_count + c.followers,
      following_count = s.following_count + c.following, statuses_count = s.statuses_count + c.statuses,
      last_status_at = greatest(c.at, s.last_status_at)
    FROM locked JOIN (SELECT account_id, sum(followers)::int AS followers, sum(following)::int AS following,
        sum(statuses)::int AS statuses, max(at) FILTER (WHERE statuses > 0) AS at
      FROM unnest(${ids}::bigint[], ${changes.map(({ followers = 0 }) => followers)}::int[],
        ${changes.map(({ following = 0 }) => following)}::int[], ${changes.map(({ statuses = 0 }) => statuses)}::int[],
        ${nullable(changes.map(({ at }) => at))}::timestamptz[])
        AS given (account_id, followers, following, statuses, at) GROUP BY account_id) c ON c.account_id = locked.account_id
    WHERE s.account_id = locked.account_id`)
}

interface Changes {
  readonly writer: RowWriter
  readonly accounts: ReadonlyArray<AccountChange & { readonly at: Date | null }>
  readonly statuses: ReadonlyArray<StatusChange>
}

const change = atCommit(Effect.fnUntraced(function*(all: ReadonlyArray<Changes>) {
  const accounts = all.flatMap((changes) => changes.accounts)
  const statuses = all.flatMap((changes) => changes.statuses)
  for (const { writer } of all.slice(0, 1)) {
    if (accounts.length > 0) yield* ofAccounts(writer, accounts)
    if (statuses.length > 0) yield* ofStatuses(writer, statuses)
    yield* ofReactions(writer, statuses)
  }
}))

/**
 * Changes counters in the current transaction: accounts before statuses, each in id order, so that transactions of
 * different accounts cannot deadlock. Call it as the transaction's last write; the changes of effects that run
 * `inOneTransaction` are merged. Totals stated by a status's own server change too, until that server states new
 * totals.
 */
export const count = traced("Counters.count")((
  writer: RowWriter,
  accounts: ReadonlyArray<AccountChange>,
  statuses: ReadonlyArray<StatusChange> = [],
  lastStatusAt: Date | null = null
): Effect.Effect<void, SqlError> =>
  change({ writer, accounts: accounts.map((one) => ({ ...one, at: lastStatusAt })), statuses })
)
