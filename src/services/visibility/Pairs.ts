import { Effect } from "effect"
import type { SqlClient } from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"

/** Two accounts, in any order. */
type Pair = readonly [bigint, bigint]

/** Returns the 64-bit key of a pair's lock; a collision only costs time. */
const keyOf = ([one, other]: Pair): bigint => {
  const [low, high] = one < other ? [one, other] : [other, one]
  return BigInt.asIntN(64, low * 0x9e37_79b9_7f4a_7c15n + high)
}

/**
 * Locks pairs of accounts until the transaction ends. A command that makes or ends a relation of two accounts locks the
 * pair, so neither side checks before the other has committed. The state of the accounts (locked, moved, suspended,
 * deleted, blocked domain) is locked, too: changes to it write or lock the account's row (`lockAccount`). Checks must
 * be in a later statement, which sees the commit that this one waited for. A transaction locks all its pairs at once,
 * in one order, so that no deadlocks occur.
 */
export const lockPairs = (sql: SqlClient, pairs: ReadonlyArray<Pair>): Effect.Effect<void, SqlError> => {
  const keys = [...new Set(pairs.map(keyOf))].toSorted((a, b) => a < b ? -1 : 1)
  return Effect.asVoid(sql`WITH accounts_held AS MATERIALIZED (
      SELECT id FROM accounts WHERE id = ANY (${[...new Set(pairs.flat())]}::bigint[]) ORDER BY id FOR SHARE)
    SELECT pg_advisory_xact_lock(key) FROM unnest(${keys}::bigint[]) AS given (key)
    WHERE (SELECT count(*) FROM accounts_held) >= 0`)
}

/** Locks an account against all transactions that hold a pair with it, for changes that concern any number of pairs. */
export const lockAccount = (sql: SqlClient, accountId: bigint): Effect.Effect<void, SqlError> =>
  Effect.asVoid(sql`SELECT FROM accounts WHERE id = ${accountId} FOR NO KEY UPDATE`)
