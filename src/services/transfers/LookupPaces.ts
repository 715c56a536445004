import { Clock, Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { Fragment } from "effect/sql/Statement"

/**
 * Interval of look-ups at one host, in milliseconds, and look-ups that may be made at once after a pause. A look-up takes up
 * to three requests: a post or WebFinger, the actor, and WebFinger to confirm its handle. In five minutes these are fewer than
 * 300, Mastodon's limit for requests of one address to its API.
 */
export const lookUpMillis = 4_000
export const lookUpsAtOnce = 20

/** Returns the latest `rested_at` at which a host still has a look-up left. */
const latestRest = (now: number) => new Date(now + (lookUpsAtOnce - 1) * lookUpMillis)

/** Condition: look-ups at the host of a row must wait. */
export const mustWait = (sql: SqlClient.SqlClient, host: Fragment, now: number) =>
  sql`EXISTS (SELECT FROM lookup_paces p WHERE p.host = ${host} AND p.rested_at > ${latestRest(now)})`

/** Returns a function that counts a look-up of an import at a host; false if it must wait. All nodes share the counts. */
export const make = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  return Effect.fnUntraced(function*(host: string) {
    const now = yield* Clock.currentTimeMillis
    const interval = sql`${lookUpMillis}::int * interval '1 millisecond'`
    const rows = yield* sql`INSERT INTO lookup_paces AS p (host, rested_at)
      VALUES (${host}, ${new Date(now)}::timestamptz + ${interval})
      ON CONFLICT (host) DO UPDATE SET rested_at = greatest(p.rested_at, ${new Date(now)}::timestamptz) + ${interval}
        WHERE p.rested_at <= ${latestRest(now)} RETURNING 1`
    return rows.length > 0
  })
})
