import { Effect } from "effect"
import type { SqlClient } from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"

/** Two accounts, in whichever order. */
type Pair = readonly [bigint, bigint]

/** 64 bits by which a pair is locked; a coincidence only costs time. */
const keyOf = ([one, other]: Pair): bigint => {
  const [low, high] = one < other ? [one, other] : [other, one]
  return BigInt.asIntN(64, low * 0x9e37_79b9_7f4a_7c15n + high)
}

/**
 * Holds pairs of accounts until the running transaction is over. A command that makes or ends a relation of two
 * accounts locks the pair. Neither side checks before the other commits. An account's own state (locked, moved,
 * suspended, gone, closed to a domain) stays meanwhile: a change of it writes or locks its row (`lockAccount`). Checks
 * come in a later statement, which sees the commit that this one waited for. A transaction locks all its pairs at once
 * and in one order: no two wait for each other.
 */
export const lockPairs = (sql: SqlClient, pairs: ReadonlyArray<Pair>): Effect.Effect<void, SqlError> => {
  const keys = [...new Set(pairs.map(keyOf))].toSorted((a, b) => a < b ? -1 : 1)
  return Effect.asVoid(sql`WITH accounts_held AS MATERIALIZED (
      SELECT id FROM accounts WHERE id = ANY (${[...new Set(pairs.flat())]}::bigint[]) ORDER BY id FOR SHARE)
    SELECT pg_advisory_xact_lock(key) FROM unnest(${keys}::bigint[]) AS given (key)
    WHERE (SELECT count(*) FROM accounts_held) >= 0`)
}

/** Holds an account against everybody who holds a pair with it, for what concerns any number of pairs. */
export const lockAccount = (sql: SqlClient, accountId: bigint): Effect.Effect<void, SqlError> =>
  Effect.asVoid(sql`SELECT FROM accounts WHERE id = ${accountId} FOR NO KEY UPDATE`)
